"""The bridge to gepa: its adapter, acceptance criterion, callbacks and stopper, in our terms.

gepa is synchronous, so it runs in a thread of its own; everything it asks for is done on the
run's event loop. What was measured of gepa 0.1.4 and is dealt with here:

- it swallows exceptions of proposers and retries them: ours never raises, it notes failures,
  and `search` raises those that end the run;
- it needs a number for every example: a rollout lost to a fault gets the mean of the others,
  which moves no mean, while acceptance leaves such pairs out;
- it checks its budget between iterations only: our evaluator refuses before it overshoots;
- it can go round for ever without spending anything: patience counts every iteration.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from concurrent.futures import Future
from typing import Any, cast

from gepa.core.adapter import EvaluationBatch, GEPAAdapter
from gepa.core.callbacks import IterationEndEvent, ValsetEvaluatedEvent
from gepa.core.state import GEPAState
from gepa.proposer.base import CandidateProposal

from ..agents.budget import BudgetExhaustedError
from ..agents.prompts import PromptBundle
from .acceptance import Decision, decide, unquoted
from .candidate import Pool, Status
from .case import Case
from .evaluator import Evaluator
from .example import Example
from .guards import Guards
from .observer import Observer
from .proposers.proposer import Assignment, ProposalFailedError, Proposer, TurnedDown
from .rollout import Lesson, Rollout, mean_score
from .settings import Search

_MAX_PROPOSER_FAILURES = 3


class ExampleLoader:
    """A split as gepa's data loader, keyed by example ids, which are unique over all splits."""

    def __init__(self, examples: Sequence[Example]) -> None:
        self._examples = {example.id: example for example in examples}

    def all_ids(self) -> list[str]:
        """Return the ids in order."""
        return list(self._examples)

    def fetch(self, ids: Sequence[str]) -> list[Example]:
        """Return the examples with these ids."""
        return [self._examples[id_] for id_ in ids]

    def __len__(self) -> int:
        return len(self._examples)


class GepaBridge(GEPAAdapter[Example, Rollout, Rollout]):
    """Everything gepa calls back, and the record of what it did.

    Attributes:
        pool: All candidates so far.
        stopped: Why the search should end; empty while it should go on.
        error: What the proposer raised that the run cannot go on from.
    """

    def __init__(
        self,
        seed: PromptBundle,
        val: ExampleLoader,
        settings: Search,
        evaluator: Evaluator,
        proposer: Proposer,
        guards: Guards,
        observer: Observer,
    ) -> None:
        self.pool = Pool()
        self.stopped = ""
        self.error: Exception | None = None
        self._seed = seed
        self._val = val
        self._settings = settings
        self._evaluator = evaluator
        self._proposer = proposer
        self._guards = guards
        self._observer = observer
        self._loop = asyncio.get_running_loop()
        self._pending: Future[Any] | None = None
        self._abandoned = False
        self._promised: dict[str, tuple[PromptBundle, int, Decision]] = {}
        self._fruitless = 0
        self._failures = 0

    # What gepa asks of an adapter

    def evaluate(
        self, batch: list[Example], candidate: dict[str, str], capture_traces: bool = False
    ) -> EvaluationBatch[Rollout, Rollout]:
        """Score a candidate on examples."""
        rollouts = self._on_loop(self._evaluator.evaluate(batch, self._bundle(candidate)))
        fill = mean_score(rollouts) or 0.0
        return EvaluationBatch(
            outputs=rollouts,
            scores=[fill if rollout.score is None else rollout.score for rollout in rollouts],
            trajectories=rollouts,
            objective_scores=[dict(rollout.objectives) for rollout in rollouts],
        )

    def make_reflective_dataset(
        self,
        candidate: dict[str, str],
        eval_batch: EvaluationBatch[Rollout, Rollout],
        components_to_update: list[str],
    ) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """Return the rollouts for each agent; what they teach is for the proposer to say."""
        rollouts = [{"rollout": rollout} for rollout in eval_batch.outputs]
        return dict.fromkeys(components_to_update, rollouts)

    def propose_new_texts(  # type: ignore[override]
        self,
        candidate: dict[str, str],
        reflective_dataset: Mapping[str, Sequence[Mapping[str, Any]]],
        components_to_update: list[str],
    ) -> dict[str, str]:
        """Return texts that passed the guards, or nothing; never raises."""
        parent = self._bundle(candidate)
        records = reflective_dataset[components_to_update[0]]
        rollouts = [record["rollout"] for record in records]
        assignment = Assignment(
            prompts=parent.only(*components_to_update),
            lessons={agent: _lessons(rollouts, agent) for agent in parent},
            rejected=self._rejected(parent),
            max_length=self._settings.max_prompt_length,
            bundle=parent,
            cases=_cases(rollouts),
        )
        try:
            texts = self._guarded(parent, self._on_loop(self._proposer.propose(assignment)))
        except ProposalFailedError as error:
            self._proposer_failed(str(error))
        except BudgetExhaustedError as error:
            self.stopped = error.limit
        except Exception as error:
            self.error = error
            self.stopped = "the proposer broke"
        else:
            self._failures = 0
            return texts
        return {}

    # What gepa asks of an acceptance criterion

    def should_accept(self, proposal: CandidateProposal, state: GEPAState) -> bool:
        """Decide on a proposal and note why."""
        assert proposal.eval_before is not None
        assert proposal.eval_after is not None
        before = cast(list[Rollout], proposal.eval_before.outputs)
        after = cast(list[Rollout], proposal.eval_after.outputs)
        bundle = self._bundle(proposal.candidate)
        written_from = self._bundle(state.program_candidates[proposal.parent_program_ids[0]])
        pairs = unquoted(before, after, written_from, bundle)
        decision = decide(*pairs, self._settings.min_gain)
        parent = self.pool.number_of(written_from)
        if decision.accepted:
            self._promised[bundle.fingerprint] = bundle, parent, decision
        else:
            self._consider(bundle, parent, Status.REJECTED, decision)
        return decision.accepted

    # What gepa tells its callbacks

    def on_valset_evaluated(self, event: ValsetEvaluatedEvent) -> None:
        """Put the seed or an accepted child into the pool."""
        bundle = self._bundle(event["candidate"])
        val = self._evaluator.recall(self._val.fetch(list(event["scores_by_val_id"])), bundle)
        if not self.pool.candidates:
            seed = Decision(True, "the prompts to start from", None, None)
            self._consider(bundle, None, Status.SEED, seed, val)
            return
        _, parent, decision = self._promised.pop(bundle.fingerprint)
        self._consider(bundle, parent, Status.ACCEPTED, decision, val)

    def on_iteration_end(self, event: IterationEndEvent) -> None:
        """Count iterations that led to nothing."""
        self._fruitless = 0 if event["proposal_accepted"] else self._fruitless + 1
        if self._fruitless >= self._settings.patience and not self.stopped:
            self.stopped = f"no accepted candidate in {self._fruitless} iterations"

    # What gepa asks of a stopper

    def __call__(self, gepa_state: GEPAState) -> bool:
        """Return whether to stop."""
        return bool(self.stopped)

    # Around a run

    def abandon(self) -> None:
        """End what gepa is waiting for, so that its thread can end too."""
        self._abandoned = True
        self.stopped = self.stopped or "interrupted"
        if self._pending is not None:
            self._pending.cancel()

    def close(self) -> None:
        """Note accepted children that the budget did not let be scored on val."""
        for bundle, parent, decision in self._promised.values():
            self._consider(bundle, parent, Status.UNFINISHED, decision)

    # Inside

    def _on_loop(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Run a coroutine on the run's event loop and wait for it on gepa's thread."""
        self._pending = asyncio.run_coroutine_threadsafe(work, self._loop)
        if self._abandoned:  # between two calls, when there was nothing to cancel
            self._pending.cancel()
        return self._pending.result()

    def _bundle(self, texts: Mapping[str, str]) -> PromptBundle:
        return self._seed.with_texts(texts)

    def _rejected(self, parent: PromptBundle) -> list[TurnedDown]:
        """Return what was tried from this parent before and turned down, oldest first."""
        number = self.pool.number_of(parent)
        return [
            TurnedDown(_changed(parent, candidate.bundle), candidate.reason)
            for candidate in self.pool.candidates
            if candidate.parent == number and candidate.status in (Status.REJECTED, Status.REFUSED)
        ]

    def _guarded(self, parent: PromptBundle, texts: Mapping[str, str]) -> dict[str, str]:
        """Return the texts, or nothing when a guard refuses one of them or they were tried."""
        if not texts:
            return {}
        child = parent.with_texts(texts)
        refusals = (
            f"{agent}: {reason}"
            for agent, text in texts.items()
            if (reason := self._guards.refusal(parent[agent], text))
        )
        refusal = next(refusals, None)
        if refusal is not None:
            decision = Decision(False, refusal, None, None)
            self._consider(child, self.pool.number_of(parent), Status.REFUSED, decision)
            return {}
        if any(candidate.bundle == child for candidate in self.pool.candidates):
            return {}
        return dict(texts)

    def _proposer_failed(self, reason: str) -> None:
        self._failures += 1
        if self._failures >= _MAX_PROPOSER_FAILURES:
            self.stopped = f"the proposer failed {self._failures} times in a row: {reason}"

    def _consider(
        self,
        bundle: PromptBundle,
        parent: int | None,
        status: Status,
        decision: Decision,
        val: Sequence[Rollout] = (),
    ) -> None:
        candidate = self.pool.add(
            bundle,
            parent,
            status,
            decision.reason,
            self._evaluator.budget.rollouts,
            before=decision.before,
            after=decision.after,
            val=val,
        )
        self._observer.considered(candidate)


def _lessons(rollouts: Sequence[Rollout], agent: str) -> list[Lesson]:
    found = [lesson for rollout in rollouts for lesson in rollout.lessons.get(agent, ())]
    return sorted(found, key=lambda lesson: not lesson.failed)


def _cases(rollouts: Sequence[Rollout]) -> list[Case]:
    """Return the conversations that lost points, the worst first."""
    found = [rollout.case for rollout in rollouts if rollout.case is not None]
    return sorted(found, key=lambda case: case.score)


def _changed(before: PromptBundle, after: PromptBundle) -> dict[str, str]:
    return {agent: after[agent].text for agent in after if after[agent] != before[agent]}
