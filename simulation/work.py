"""Units of work: conversations to be played, each complete in itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from ..agents.errors import UsageError
from ..agents.fingerprint import fingerprint
from ..agents.prompts import Prompt, PromptBundle
from .journal import Journal
from .scenario import Scenario

KIND = "conversation"
_SEED_DIGITS = 7


@dataclass(frozen=True, slots=True)
class Work:
    """One conversation to be played, wherever and whenever.

    Attributes:
        scenario: What the customer wants.
        prompts: What the assistant's agents are told.
        repeat: Which repetition of the scenario it is, from 0.
        run_seed: The run's seed.
        draw: How often the seed was drawn anew, after what the last one led to was of no use.
    """

    scenario: Scenario
    prompts: PromptBundle
    repeat: int = 0
    run_seed: int = 0
    draw: int = 0

    @property
    def seed(self) -> int:
        """The conversation's seed: a hash of what the work is, never of when it is done."""
        scenario = self.scenario
        drawn_from = [self.run_seed, scenario.id, scenario.seed, self.repeat, self.draw]
        return int(fingerprint(drawn_from, _SEED_DIGITS), 16)

    @property
    def label(self) -> dict[str, Any]:
        """What tells its trajectory from others of the same scenario, JSON."""
        return {
            "family": self.scenario.family,
            "prompts": self.prompts.fingerprint,
            "repeat": self.repeat,
            "seed": self.seed,
        }

    def key(self, identity: str) -> str:
        """Return the journal key: the content that determines the conversation.

        Args:
            identity: Fingerprint of who plays.
        """
        scenario = self.scenario
        return Journal.key(
            KIND,
            [
                identity,
                scenario.id,
                scenario.fingerprint,
                self.prompts.fingerprint,
                self.repeat,
                self.run_seed,
            ],
        )

    def redrawn(self) -> Work:
        """Return the same work with another seed."""
        return replace(self, draw=self.draw + 1)

    def to_json(self) -> dict[str, Any]:
        """Return JSON values, to send it to another process."""
        return {
            "scenario": self.scenario.model_dump(mode="json"),
            "prompts": self.prompts.texts(),
            "repeat": self.repeat,
            "run_seed": self.run_seed,
            "draw": self.draw,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Work:
        """Read back what `to_json` returned."""
        prompts = (Prompt(agent, text) for agent, text in value["prompts"].items())
        return cls(
            Scenario.model_validate(value["scenario"]),
            PromptBundle.of(*prompts),
            value["repeat"],
            value["run_seed"],
            value["draw"],
        )


class Units(Protocol):
    """Any amount of work whose size is known: a `Workload`, or a list."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Work]: ...


@dataclass(frozen=True, slots=True)
class Workload:
    """All conversations of a run, made one at a time as they are needed.

    Attributes:
        scenarios: Each is played `repeats` times.
        prompts: What the assistant's agents are told.
        repeats: Repetitions, each with a seed of its own.
        seed: The run's seed.

    Raises:
        UsageError: Two scenarios have the same id.
    """

    scenarios: Sequence[Scenario]
    prompts: PromptBundle
    repeats: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        seen = Counter(scenario.id for scenario in self.scenarios)
        id_, times = max(seen.items(), key=lambda item: item[1], default=("", 0))
        if times > 1:
            raise UsageError(
                f"The scenario id '{id_}' is there {times} times. Give every scenario an id of its "
                "own, or one conversation would count as several."
            )

    def __len__(self) -> int:
        return len(self.scenarios) * self.repeats

    def __iter__(self) -> Iterator[Work]:
        for repeat in range(self.repeats):
            for scenario in self.scenarios:
                yield Work(scenario, self.prompts, repeat, self.seed)
