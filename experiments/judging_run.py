"""A judging run: checked before anything is spent, then judged and written down."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from ..agents.blocking import blocking
from ..agents.budget import Budget, Limits
from ..agents.errors import UsageError
from ..agents.ledger import Ledger, Role
from ..agents.lm import LanguageModel
from ..rubrics.judge import Judge
from ..rubrics.judging import Case, Judging, JudgingObserver
from ..rubrics.rubric import Rubric
from ..rubrics.rubric_file import load_rubric
from ..rubrics.ruling_file import write_rulings
from ..rubrics.subject import ConversationRecord, SubjectKind
from ..rubrics.tally import Tally
from ..rubrics.verdict_journal import VerdictJournal
from ..simulation.journal import Journal
from ..simulation.trajectory_file import read_trajectories
from .judge_model import JudgeSource
from .known_scenarios import KnownScenarios
from .model_access import check_reachable, open_models
from .run_folder import JOURNAL, make_writable


@dataclass(frozen=True, slots=True)
class Survey:
    """What is in a trajectories file.

    Attributes:
        conversations: How many conversations.
        without_scenario: Those of them whose scenario is not known.
    """

    conversations: int
    without_scenario: int


@dataclass(frozen=True, slots=True)
class JudgingRun:
    """Conversations to be judged.

    Attributes:
        trajectories: The file they are in.
        rubric: By what they are judged.
        scenarios: What their customers wanted.
        model: The judge; None lets only checks decide.
        limits: What may be spent.
        out: Where the verdicts are written.
        survey: What is in the file.
    """

    trajectories: Path
    rubric: Rubric
    scenarios: KnownScenarios
    model: JudgeSource | None
    limits: Limits
    out: Path
    survey: Survey

    @classmethod
    def prepare(
        cls,
        trajectories: Path,
        rubric: str,
        *,
        scenarios: str | None,
        model: JudgeSource | None,
        tokens: int | None,
        usd: float | None,
        out: Path,
    ) -> JudgingRun:
        """Read and check everything a run needs, the trajectories to the last line.

        Args:
            trajectories: A file of trajectories.
            rubric: A pack or a file.
            scenarios: A pack or a file; see `KnownScenarios.load`.
            model: The judge; None lets only checks decide.
            tokens: Tokens that may be used; None is no limit.
            usd: US dollars that may be spent; None is no limit.
            out: Where the verdicts are written.

        Raises:
            UsageError: Something is missing or wrong.
            CotuneError: The run's folder cannot be written.
        """
        read = load_rubric(rubric)
        _require_conversations(read, rubric)
        if out.resolve() == trajectories.resolve():
            raise UsageError(f"--out {out} would overwrite the trajectories; name another file.")
        known = KnownScenarios.load(scenarios)
        survey = _survey(trajectories, known)
        limits = Limits(rollouts=max(1, survey.conversations), tokens=tokens, usd=usd)
        run = cls(trajectories, read, known, model, limits, out, survey)
        make_writable(run.folder)
        return run

    @property
    def folder(self) -> Path:
        """Where the run keeps its journal: beside the verdicts."""
        return self.out.with_name(f"{self.out.stem}.judging")

    def journal(self) -> Journal:
        """Open the run's journal."""
        return Journal(self.folder / JOURNAL)

    def cases(self) -> Iterator[Case]:
        """Yield the conversations, one at a time."""
        for number, trajectory in enumerate(read_trajectories(self.trajectories), start=1):
            yield Case(number, ConversationRecord(trajectory, self.scenarios.of(trajectory)))

    def execute(self, journal: Journal, ledger: Ledger, observer: JudgingObserver) -> Tally:
        """Judge what is not in the journal, and write all verdicts to `out`.

        Raises:
            CotuneError: The model cannot be used, the run paused, or the budget does not suffice;
                what was judged until then is written, too.
        """
        budget = Budget(self.limits)
        with ExitStack() as stack:
            judge: Judge | None = None
            lm: LanguageModel | None = None
            at_once = 1  # checks only compute
            if self.model is not None:
                settings = {Role.JUDGE: self.model.settings}
                lm = stack.enter_context(open_models(settings, ledger, budget))[Role.JUDGE]
                judge = self.model.judge(lm, self.rubric)
                at_once = lm.settings.concurrency
            decisions = VerdictJournal(self.rubric, judge, journal, ledger, budget)
            judging = Judging(decisions, observer, at_once)
            return blocking(self._judge(judging, lm))

    async def _judge(self, judging: Judging, lm: LanguageModel | None) -> Tally:
        if lm is not None:
            await check_reachable(lm)
        tally = Tally()
        try:
            await judging.run(self.cases(), self.survey.conversations)
        finally:
            write_rulings(self.out, tally.counting(judging.rulings(self.cases())))
        return tally


def _require_conversations(rubric: Rubric, source: str) -> None:
    if rubric.subject is not SubjectKind.TRAJECTORY:
        raise UsageError(
            f"The rubric '{source}' scores single calls of an agent, not conversations; it is for "
            "`cotune optimize agent`. Take one whose subject is 'trajectory', such as magic."
        )


def _survey(trajectories: Path, known: KnownScenarios) -> Survey:
    conversations = without = 0
    for trajectory in read_trajectories(trajectories):
        conversations += 1
        without += known.find(trajectory) is None
    if not conversations:
        raise UsageError(f"{trajectories} holds no conversation.")
    if without == conversations and not known.assumed:
        raise UsageError(
            f"No conversation of {trajectories} belongs to a scenario of '{known.source}'. Name "
            "the scenarios it was made from, or leave --scenarios out."
        )
    return Survey(conversations, without)
