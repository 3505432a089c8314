"""A match of two bundles: both are played on the same examples, and nothing is searched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..agents.errors import UsageError
from ..agents.ledger import Ledger
from ..agents.prompts import PromptBundle
from ..optimizer.evaluator import Evaluator
from ..optimizer.observer import Observer
from ..simulation.journal import Journal
from .agent_run import AgentRun
from .compared import Compared
from .config import RunConfig
from .run import Built, Means, Run
from .seed_prompts import unfit_for
from .system_run import SystemRun
from .tested_side import TestedSide, tested, verdicts_path

_FOLDER = "compared"
_AMPLE = 1_000_000  # rollouts: `prepare` plans a search, which a match does not make


@dataclass(frozen=True, slots=True)
class BundleMatch:
    """Two bundles and what they are played on.

    Attributes:
        run: The run whose assistant, models, rubric and journal are used: what it has played with
            the same prompts is not paid for again.
        bundles: By name, the first side before the second.
        examples: What both are played on.
        notes: Where a bundle is not one of exactly the agents that take part.
    """

    run: Run
    bundles: Mapping[str, PromptBundle]
    examples: Sequence[Any]
    notes: Sequence[str] = ()

    @classmethod
    def prepare(
        cls, config: RunConfig, agent: str | None, bundles: Mapping[str, PromptBundle], split: str
    ) -> BundleMatch:
        """Read and check everything a match needs.

        Args:
            config: Of a run of the same assistant.
            agent: The agent that is called alone; None plays conversations.
            bundles: Two, by name; agents that one does not have keep the prompts they start from,
                and prompts of others are left out.
            split: Of the configuration: train, val or test.

        Raises:
            UsageError: Something is missing or wrong.
            CotuneError: A model cannot be used, or the run's folder cannot be written.
        """
        run = _prepared(_planned(config), agent)
        examples = run.splits.split(split)
        whole = {name: _whole(run, name, bundle) for name, bundle in bundles.items()}
        rollouts = len(bundles) * len(examples) * config.test.repeats
        limits = config.limits.model_copy(update={"rollouts": rollouts})
        limited = run.config.model_copy(update={"limits": limits})
        notes = [note for each in bundles.items() for note in _notes(run, *each)]
        return cls(replace(run, config=limited), whole, examples, notes if agent is None else ())

    def execute(self, journal: Journal, ledger: Ledger, observer: Observer) -> None:
        """Play both sides and write what came of it; see `sides`.

        Raises:
            CotuneError: A model cannot be used, too many rollouts were lost to faults, or the
                budget does not suffice. What was paid for is kept.
        """

        async def play(means: Means, built: Built) -> list[TestedSide]:
            return await self._play(means, built, observer)

        for name, side in zip(self.bundles, self.run.work(journal, ledger, play), strict=True):
            side.save(self._folder, self._stem(name))

    def sides(self) -> tuple[Compared, Compared]:
        """Return both sides, once they were played."""
        simulated = self.run.about.simulated
        one, other = (
            Compared.read(name, verdicts_path(self._folder, self._stem(name)), simulated=simulated)
            for name in self.bundles
        )
        return one, other

    @property
    def _folder(self) -> Path:
        return self.run.folder / _FOLDER

    def _stem(self, name: str) -> str:
        return self.bundles[name].fingerprint

    async def _play(self, means: Means, built: Built, observer: Observer) -> list[TestedSide]:
        config, examples = self.run.config, self.examples
        evaluator = Evaluator(
            built.task,
            means.journal,
            means.ledger,
            means.budget,
            observer,
            config.fault_threshold,
        )
        repeats = range(config.test.repeats)
        observer.step("comparison", len(self.bundles) * len(examples) * len(repeats))
        sides = []
        for bundle in self.bundles.values():
            rollouts = [await evaluator.evaluate(examples, bundle, repeat) for repeat in repeats]
            sides.append(self.run.side(built.task, tested(examples, bundle, rollouts)))
        return sides


def _planned(config: RunConfig) -> RunConfig:
    """Return the configuration of a run that has all it needs and nobody who writes prompts."""
    limits = config.limits.model_copy(update={"rollouts": _AMPLE})
    return config.model_copy(update={"limits": limits, "proposer": "lessons"})


def _prepared(config: RunConfig, agent: str | None) -> Run:
    if agent is None:
        return SystemRun.prepare(config, (), "")
    return AgentRun.prepare(config, agent, "")


def _notes(run: Run, name: str, bundle: PromptBundle) -> Iterator[str]:
    """Yield for which agents a bundle lacks a prompt, and which take no part."""
    if lacking := ", ".join(sorted(set(run.seed) - set(bundle))):
        yield f"{name} has no prompt of {lacking}, which keep what they start from."
    if others := ", ".join(sorted(set(bundle) - set(run.seed))):
        yield f"{name} has prompts of {others}, which take no part; they are left out."


def _whole(run: Run, name: str, bundle: PromptBundle) -> PromptBundle:
    """Return a bundle with the prompts of all agents that take part, as they may be told them."""
    unknown = sorted(set(bundle) - set(run.seed))
    if len(unknown) == len(bundle):
        raise UsageError(
            f"{name} has prompts of {', '.join(unknown)}; this compares those of "
            f"{', '.join(run.seed)}."
        )
    known = {agent: prompt.text for agent, prompt in bundle.items() if agent in run.seed}
    whole = run.seed.with_texts(known)
    refusal = unfit_for(run.config.assistant, whole)(whole)
    if refusal is not None:
        raise UsageError(f"{name} cannot be played: {refusal}")
    return whole
