"""The bridge to gepa: its adapter, selectors, acceptance criterion and callbacks, in our terms.

gepa is synchronous, so it runs in a thread of its own; everything it asks for is done on the
run's event loop. What was measured of gepa 0.1.4 and is dealt with here:

- it swallows exceptions of proposers and retries them: ours never raises, it notes failures,
  and `search` raises those that end the run;
- it needs a number for every example: a rollout lost to a fault gets the mean of the others,
  which moves no mean, while acceptance leaves such pairs out;
- it checks its budget between iterations only: our evaluator refuses before it overshoots;
- it can go round for ever without spending anything: patience counts every iteration;
- it asks for one proposal after the other: ours are begun when their rollouts are there, so that
  those of one iteration are written side by side.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, cast

from gepa.core.adapter import EvaluationBatch, GEPAAdapter
from gepa.core.callbacks import IterationEndEvent, ValsetEvaluatedEvent
from gepa.core.state import GEPAState
from gepa.proposer.base import CandidateProposal

from ..agents.budget import BudgetExhaustedError
from ..agents.prompts import PromptBundle
from .acceptance import Decision
from .acceptor import Acceptor, Pairing
from .candidate import Pool, Status
from .component_selection import ComponentSelection
from .drafting import Drafting
from .evaluator import Evaluator
from .example import Example
from .example_loader import ExampleLoader
from .learning import Learning, Material
from .observer import Observer
from .proposers.proposer import Draft, ProposalFailedError
from .rollout import Rollout, mean_score

_MAX_PROPOSER_FAILURES = 3
_BEGUN = "begun"


@dataclass(frozen=True, slots=True)
class Policies:
    """What decides in a search; each is a file of its own.

    Attributes:
        selection: Which agents a proposal may change.
        drafting: What is proposed.
        acceptor: Whether a child joins the pool.
        learning: What a proposal is written from, and which of its edits helped.
        patience: Iterations without an accepted child after which the search ends.
    """

    selection: ComponentSelection
    drafting: Drafting
    acceptor: Acceptor
    learning: Learning
    patience: int


@dataclass(frozen=True, slots=True)
class _Begun:
    """A proposal under way, and what it is written from."""

    draft: Future[Draft]
    material: Material


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
        policies: Policies,
        evaluator: Evaluator,
        observer: Observer,
    ) -> None:
        self.pool = Pool()
        self.stopped = ""
        self.error: Exception | None = None
        self._seed = seed
        self._val = val
        self._policies = policies
        self._evaluator = evaluator
        self._observer = observer
        self._loop = asyncio.get_running_loop()
        self._pending: set[Future[Any]] = set()
        self._abandoned = False
        self._promised: dict[str, _Promise] = {}
        self._diagnoses: dict[str, str] = {}
        self._draws = 0
        self._fruitless = 0
        self._failures = 0

    def bundle(self, texts: Mapping[str, str]) -> PromptBundle:
        """Return prompts with the texts that gepa has for them."""
        return self._seed.with_texts(texts)

    # What gepa asks of an adapter

    def evaluate(
        self, batch: list[Example], candidate: dict[str, str], capture_traces: bool = False
    ) -> EvaluationBatch[Rollout, Rollout]:
        """Score a candidate on examples."""
        return self.batch_evaluate([(candidate, batch)])[0]

    def batch_evaluate(
        self, items: list[tuple[dict[str, str], list[Example]]]
    ) -> list[EvaluationBatch[Rollout, Rollout]]:
        """Score candidates, each on examples of its own, side by side."""
        work = [(batch, self.bundle(candidate)) for candidate, batch in items]
        found = self._on_loop(self._evaluator.evaluate_all(work))
        for (_, bundle), rollouts in zip(work, found, strict=True):
            self._policies.learning.note(bundle, rollouts)
        return [_evaluated(one) for one in found]

    def make_reflective_dataset(
        self,
        candidate: dict[str, str],
        eval_batch: EvaluationBatch[Rollout, Rollout],
        components_to_update: list[str],
    ) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """Begin to write, and return what is under way; gepa hands it to `propose_new_texts`."""
        parent, rollouts = self.bundle(candidate), list(eval_batch.outputs)
        material = self._policies.learning.material(parent, rollouts, components_to_update)
        draft = self._begin(self._policies.drafting.draft(self.pool, parent, material))
        return {_BEGUN: [{_BEGUN: _Begun(draft, material)}]}

    def propose_new_texts(  # type: ignore[override]
        self,
        candidate: dict[str, str],
        reflective_dataset: Mapping[str, Sequence[Mapping[str, Any]]],
        components_to_update: list[str],
    ) -> dict[str, str]:
        """Return texts that passed the guards, or nothing; never raises."""
        begun: _Begun = reflective_dataset[_BEGUN][0][_BEGUN]
        try:
            draft = self._ended(begun.draft)
            texts = self._guarded(self.bundle(candidate), draft, begun.material)
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

    # What gepa asks of a component selector

    def select_agents(
        self,
        state: GEPAState,
        trajectories: list[Rollout],
        subsample_scores: list[float],
        candidate_idx: int,
        candidate: dict[str, str],
    ) -> list[str]:
        """Return the agents whose prompts may change."""
        self._draws += 1
        return self._policies.selection(trajectories, list(candidate), self._draws)

    # What gepa asks of an acceptance criterion

    def should_accept(self, proposal: CandidateProposal, state: GEPAState) -> bool:
        """Decide on a proposal and note why."""
        assert proposal.eval_before is not None
        assert proposal.eval_after is not None
        parent = self.bundle(state.program_candidates[proposal.parent_program_ids[0]])
        child = self.bundle(proposal.candidate)
        if self._was_tried(child):
            return False  # another proposal of the same iteration was the same
        before = cast(list[Rollout], proposal.eval_before.outputs)
        after = cast(list[Rollout], proposal.eval_after.outputs)
        pairing = self._credited(parent, child, before, after)
        if pairing is None:
            return False
        proposal.candidate = pairing.child.texts()  # what gepa puts into its pool
        return self._decided(pairing)

    # What gepa tells its callbacks

    def on_valset_evaluated(self, event: ValsetEvaluatedEvent) -> None:
        """Put the seed or an accepted child into the pool."""
        bundle = self.bundle(event["candidate"])
        examples = self._val.fetch(list(event["scores_by_val_id"]))
        played = self._evaluator.recall(examples, bundle)
        val = self._policies.acceptor.confirmation.settled(bundle, played)
        if not self.pool.candidates:
            seed = Decision(True, "the prompts to start from", None, None)
            self._consider(bundle, None, Status.SEED, seed, val)
            return
        promise = self._promised.pop(bundle.fingerprint)
        self._consider(bundle, promise.parent, Status.ACCEPTED, promise.decision, val)

    def on_iteration_end(self, event: IterationEndEvent) -> None:
        """Count iterations that led to nothing."""
        self._fruitless = 0 if event["proposal_accepted"] else self._fruitless + 1
        if self._fruitless >= self._policies.patience and not self.stopped:
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
        for pending in list(self._pending):
            pending.cancel()

    def close(self) -> None:
        """Note accepted children that the budget did not let be scored on val."""
        for promise in self._promised.values():
            self._consider(promise.child, promise.parent, Status.UNFINISHED, promise.decision)

    # Inside

    def _credited(
        self,
        parent: PromptBundle,
        child: PromptBundle,
        before: Sequence[Rollout],
        after: Sequence[Rollout],
    ) -> Pairing | None:
        """Pair a parent with the part of a child that helped; None where that was tried before."""
        credit = self._policies.learning.credit(parent, child, before, after)
        part = parent.with_texts(credit.texts)
        if part == child:
            return Pairing(parent, child, before, credit.helped)
        decision = Decision(False, credit.reason, mean_score(before), mean_score(after))
        self._consider(child, self.pool.number_of(parent), Status.REJECTED, decision)
        if self._was_tried(part):
            return None
        whole = self.pool.candidates[-1].number
        self._diagnoses[part.fingerprint] = f"what helped of candidate {whole}"
        return Pairing(parent, part, before, credit.helped)

    def _decided(self, pairing: Pairing) -> bool:
        """Decide on a child and note why."""
        child, number = pairing.child, self.pool.number_of(pairing.parent)
        try:
            decision = self._on_loop(self._policies.acceptor.decide(pairing))
        except BudgetExhaustedError as error:
            self.stopped = error.limit
            undecided = Decision(
                False, f"undecided when the budget ended: {error.limit}", None, None
            )
            self._consider(child, number, Status.UNFINISHED, undecided)
            return False
        self._policies.learning.note(child, self._policies.acceptor.recalled(pairing))
        if decision.accepted:
            self._promised[child.fingerprint] = _Promise(child, number, decision)
        else:
            self._consider(child, number, Status.REJECTED, decision)
        return decision.accepted

    def _on_loop(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Run a coroutine on the run's event loop and wait for it on gepa's thread."""
        return self._ended(self._begin(work))

    def _begin(self, work: Coroutine[Any, Any, Any]) -> Future[Any]:
        begun = asyncio.run_coroutine_threadsafe(work, self._loop)
        self._pending.add(begun)
        if self._abandoned:  # between two calls, when there was nothing to cancel
            begun.cancel()
        return begun

    def _ended(self, begun: Future[Any]) -> Any:
        try:
            return begun.result()
        finally:
            self._pending.discard(begun)

    def _was_tried(self, bundle: PromptBundle) -> bool:
        return any(candidate.bundle == bundle for candidate in self.pool.candidates)

    def _guarded(self, parent: PromptBundle, draft: Draft, material: Material) -> dict[str, str]:
        """Return the texts, or nothing when a guard refuses one of them or they were tried."""
        if not draft.texts:
            return {}
        child = parent.with_texts(draft.texts)
        self._diagnoses[child.fingerprint] = draft.diagnosis
        self._policies.learning.aim(child, draft.texts, material.faults)
        refusal = self._policies.drafting.refusal(parent, draft.texts, material.cases)
        if refusal is not None:
            decision = Decision(False, refusal, None, None)
            self._consider(child, self.pool.number_of(parent), Status.REFUSED, decision)
            return {}
        if self._was_tried(child):
            return {}
        return dict(draft.texts)

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
            diagnosis=self._diagnoses.get(bundle.fingerprint, ""),
        )
        self._observer.considered(candidate)


@dataclass(frozen=True, slots=True)
class _Promise:
    """An accepted child that is still to be scored on val."""

    child: PromptBundle
    parent: int
    decision: Decision


def _evaluated(rollouts: list[Rollout]) -> EvaluationBatch[Rollout, Rollout]:
    fill = mean_score(rollouts) or 0.0
    return EvaluationBatch(
        outputs=rollouts,
        scores=[fill if rollout.score is None else rollout.score for rollout in rollouts],
        trajectories=rollouts,
        objective_scores=[dict(rollout.objectives) for rollout in rollouts],
    )
