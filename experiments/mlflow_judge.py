"""A calibrated judge inside MLflow: a scorer of sessions that gives the card's verdicts.

    with mlflow_judge(Path("judge-card.json"), "mine.yaml") as judge:
        mlflow.genai.evaluate(data=traces, scorers=[judge])

MLflow's own `make_judge` sends a prompt and reads an answer; thresholds, scaled probabilities and
the checks of a rubric are beyond it, so the judge is exported as a scorer that asks as cotune does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

from ..agents.budget import Budget, Limits
from ..agents.ledger import Ledger, Role
from ..rubrics.judge import Judge
from ..rubrics.judged import judged
from ..rubrics.rubric import Rubric
from ..rubrics.rubric_file import load_rubric
from ..rubrics.subject import ConversationRecord
from ..rubrics.verdict import Verdict
from ..rubrics.verdicts import Verdicts
from ..simulation.importers.mlflow_traces import SESSION, trajectory_of
from .annotation_traces import restored
from .carded_judge import CardedJudge
from .known_scenarios import KnownScenarios
from .model_access import open_models

if TYPE_CHECKING:
    from mlflow.entities import Feedback, Trace
    from mlflow.genai.scorers import Scorer


@dataclass(frozen=True, slots=True)
class _Reader:
    """Judges sessions on an event loop of its own, whatever thread MLflow calls from."""

    judge: Judge
    rubric: Rubric
    scenarios: KnownScenarios
    model: str
    loop: asyncio.AbstractEventLoop

    def feedback(self, session: Sequence[Trace]) -> list[Feedback]:
        """Return a feedback for each criterion that has a value."""
        name = session[0].info.trace_metadata.get(SESSION, session[0].info.trace_id)
        trajectory = restored(session) or trajectory_of(name, session)
        record = ConversationRecord(trajectory, self.scenarios.of(trajectory))
        asked: Future[Verdicts] = asyncio.run_coroutine_threadsafe(
            judged(self.rubric, record, self.judge), self.loop
        )
        return [self._written(each) for each in asked.result().verdicts if each.value is not None]

    def _written(self, verdict: Verdict) -> Feedback:
        from mlflow.entities import AssessmentSource, Feedback  # noqa: PLC0415  (two seconds)

        two = isinstance(self.rubric.criterion(verdict.criterion).scale, str)
        metadata = {} if verdict.turn is None else {"turn": str(verdict.turn + 1)}
        return Feedback(
            name=verdict.criterion,
            value=bool(verdict.value) if two else verdict.value,
            rationale=verdict.rationale,
            source=AssessmentSource("LLM_JUDGE", self.model),
            metadata=metadata,
        )


@contextmanager
def mlflow_judge(
    card: Path, rubric: str, limits: Limits | None = None, scenarios: str | None = None
) -> Iterator[Scorer]:
    """Give a scorer of sessions for `mlflow.genai.evaluate`, with the card's model running.

    Of conversations that `cotune annotate` sent, the verdicts are those of `cotune judge --card`;
    of other sessions the world's state is not known, so checks of it do not apply.

    Args:
        card: The card.
        rubric: The pack or file that it was made with.
        limits: What may be spent, in tokens or US dollars.
        scenarios: What was played: a pack or a file, as for `cotune judge`.

    Raises:
        UsageError: The judge would not be the one that was tested.
        CotuneError: The model cannot be used.
    """
    from mlflow.genai.scorers import scorer  # noqa: PLC0415  (two seconds)

    carded, read, budget = CardedJudge.load(card), load_rubric(rubric), Budget(limits or Limits())
    with (
        open_models({Role.JUDGE: carded.settings}, Ledger(), budget) as models,
        _looping() as loop,
    ):
        judge = carded.judge(models[Role.JUDGE], read)
        known = KnownScenarios.load(scenarios)
        reader = _Reader(judge, read, known, carded.settings.model, loop)

        @scorer(name="cotune_judge")
        def cotune_judge(session: list[Any]) -> list[Feedback]:
            return reader.feedback(session)

        yield cotune_judge


@contextmanager
def _looping() -> Iterator[asyncio.AbstractEventLoop]:
    """Run an event loop in a thread."""
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield loop
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
