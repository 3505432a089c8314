"""Plain gepa on a planted world, as its documentation has it: one adapter, its own acceptance.

Each component's text is written from that component's own feedback. A candidate is played anew
whenever gepa asks, so that each evaluation has its own luck, and every rollout counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from gepa.api import optimize
from gepa.core.adapter import EvaluationBatch, GEPAAdapter

from ...agents.prompts import PromptBundle
from ...optimizer.rollout import Rollout
from .planted_world import PlantedScenario
from .simulated_writer import SimulatedWriter

Play = Callable[[PlantedScenario, PromptBundle, int], Rollout]


@dataclass(frozen=True, slots=True)
class PlainCandidate:
    """A candidate that gepa accepted, or the seed.

    Attributes:
        bundle: Its prompts.
        parent: Its parent's place among the candidates; None for the seed.
        val: Its mean score on val, by which gepa delivers.
        rollouts: How many had been used when gepa accepted it.
    """

    bundle: PromptBundle
    parent: int | None
    val: float
    rollouts: int


@dataclass
class PlainAdapter(GEPAAdapter[PlantedScenario, Rollout, Rollout]):
    """What gepa needs to know of a planted world.

    Attributes:
        bundle: The prompts of all agents; the candidate's texts take the place of some.
        play: What scores one scenario.
        writer: Who writes the texts.
    """

    bundle: PromptBundle
    play: Play
    writer: SimulatedWriter
    _plays: Counter[tuple[str, str]] = field(default_factory=Counter)

    def evaluate(
        self, batch: list[PlantedScenario], candidate: dict[str, str], capture_traces: bool = False
    ) -> EvaluationBatch[Rollout, Rollout]:
        """Score a candidate, with new luck each time."""
        bundle = self.bundle.with_texts(candidate)
        rollouts = [self._play_again(scenario, bundle) for scenario in batch]
        scores = [rollout.score or 0.0 for rollout in rollouts]
        return EvaluationBatch(rollouts, scores, rollouts)

    def make_reflective_dataset(
        self,
        candidate: dict[str, str],
        eval_batch: EvaluationBatch[Rollout, Rollout],
        components_to_update: list[str],
    ) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """Return each component's own faults; a component without any has no records."""
        return {
            component: [
                {"Feedback": lesson.feedback}
                for rollout in eval_batch.outputs
                for lesson in rollout.lessons.get(component, ())
            ]
            for component in components_to_update
        }

    def propose_new_texts(  # type: ignore[override]
        self,
        candidate: dict[str, str],
        reflective_dataset: Mapping[str, Sequence[Mapping[str, Any]]],
        components_to_update: list[str],
    ) -> dict[str, str]:
        """Write each component's text on its own."""
        texts: dict[str, str] = {}
        for component in components_to_update:
            faults = [record["Feedback"] for record in reflective_dataset[component]]
            own = {component: candidate[component]}
            texts |= self.writer.write(own, {component: faults})
        return texts

    def _play_again(self, scenario: PlantedScenario, bundle: PromptBundle) -> Rollout:
        played = scenario.id, bundle.fingerprint
        self._plays[played] += 1
        return self.play(scenario, bundle, self._plays[played])


def run_plain(
    adapter: PlainAdapter,
    components: Sequence[str],
    splits: tuple[Sequence[PlantedScenario], Sequence[PlantedScenario]],
    selector: Literal["round_robin", "all"],
    minibatch: int,
    rollouts: int,
    seed: int,
) -> list[PlainCandidate]:
    """Run `gepa.optimize` and return its candidates in order of appearance.

    Args:
        adapter: The world.
        components: The agents whose prompts may change.
        splits: Train and val.
        selector: Which components a proposal changes.
        minibatch: Train scenarios of a proposal.
        rollouts: The budget.
        seed: Of gepa's randomness.
    """
    train, val = splits
    result = optimize(
        seed_candidate={name: adapter.bundle[name].text for name in components},
        trainset=list(train),
        valset=list(val),
        adapter=adapter,
        module_selector=selector,
        reflection_minibatch_size=min(minibatch, len(train)),
        max_metric_calls=rollouts,
        track_best_outputs=False,
        logger=_Quiet(),
        seed=seed,
    )
    return [
        PlainCandidate(adapter.bundle.with_texts(texts), parents[0], val_score, used)
        for texts, parents, val_score, used in zip(
            result.candidates,
            result.parents,
            result.val_aggregate_scores,
            result.discovery_eval_counts,
            strict=True,
        )
    ]


def delivered(candidates: Sequence[PlainCandidate], rollouts: int) -> PlainCandidate:
    """Return the best on val of those that were there after so many rollouts."""
    there = [each for each in candidates if each.rollouts <= rollouts]
    return max(there, key=lambda each: each.val)


class _Quiet:
    def log(self, message: str) -> None:
        """Say nothing."""
