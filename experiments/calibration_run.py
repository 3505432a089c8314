"""A calibration: checked before anything is spent, then tuned, tested and put on a card."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from ..agents.blocking import blocking
from ..agents.budget import Budget, Limits
from ..agents.errors import UsageError
from ..agents.fingerprint import fingerprint
from ..agents.ledger import Ledger, Role
from ..agents.lm import LanguageModel
from ..agents.models import ModelSettings
from ..optimizer.class_weights import ClassWeights
from ..optimizer.judge_parts import JudgeParts
from ..optimizer.judge_task import JudgeTask
from ..optimizer.judge_tuning import JudgeTuning
from ..optimizer.observer import Observer
from ..optimizer.plan import Plan, make_plan
from ..optimizer.proposers.lessons import LessonsProposer
from ..optimizer.proposers.proposer import Proposer
from ..optimizer.proposers.reflection import OF_JUDGES, ReflectionProposer
from ..optimizer.settings import EngineSettings, Search, Selection
from ..rubrics.clustered_estimate import Resampling
from ..rubrics.gold import GoldMethod
from ..rubrics.judges.model_judge import ModelJudge
from ..rubrics.subject import SubjectKind
from ..rubrics.verdict_journal import KIND as VERDICTS
from ..simulation.journal import Journal
from .agreement_run import AgreementStudy
from .calibration_data import CalibrationData, Dealing, calibration_data, read_conversations
from .calibration_result import CalibrationResult, measured
from .judge_model import Asking, JudgeModel
from .known_scenarios import KnownScenarios
from .model_access import check_reachable, open_models, require_known
from .run_folder import JOURNAL, make_writable

_LONGEST_PROMPT = 12_000  # worked examples of a judge are whole conversations
_RULES, _EXAMPLES, _EXAMPLES_AT_ONCE = 8, 12, (0, 6)
_MINIBATCH = 24  # of 12, what no worked example quotes is too little to compare on
_FINALISTS = 2


@dataclass(frozen=True, slots=True)
class Source:
    """Where everything comes from.

    Attributes:
        annotations: Files of annotations.
        trajectories: The file of the conversations.
        rubric: A pack or a file.
        scenarios: A pack or a file; see `KnownScenarios.load`.
        gold: How several people's values become one.
    """

    annotations: Sequence[Path]
    trajectories: Path
    rubric: str
    scenarios: str | None = None
    gold: GoldMethod = GoldMethod.MAJORITY


@dataclass(frozen=True, slots=True)
class Calibrated:
    """What a run came to.

    Attributes:
        judge: The judge as it was.
        result: What was found.
        asked: About how many verdicts were asked for, those of earlier invocations included.
    """

    judge: ModelJudge[Any]
    result: CalibrationResult
    asked: int


@dataclass(frozen=True, slots=True)
class CalibrationRun:
    """A judge to be calibrated.

    Attributes:
        data: With what.
        model: The judge.
        reflection: Who writes its prompts; lessons without a model when None.
        settings: How it is tuned.
        dealing: How the labels were dealt out.
        resampling: How intervals are found.
        plan: What the budget buys.
        folder: Where the journal, the prompts and the card are kept.
    """

    data: CalibrationData
    model: JudgeModel
    reflection: ModelSettings | None
    settings: EngineSettings
    dealing: Dealing
    resampling: Resampling
    plan: Plan
    folder: Path

    @classmethod
    def prepare(
        cls,
        source: Source,
        model: JudgeModel,
        reflection: ModelSettings | None,
        *,
        dealing: Dealing,
        limits: Limits,
        resampling: Resampling,
        out: Path,
    ) -> CalibrationRun:
        """Read and check everything a run needs.

        Raises:
            UsageError: Something is missing or wrong, or there are too few labels.
            CotuneError: A model cannot be used, or the run's folder cannot be written.
        """
        study = AgreementStudy.read(
            source.annotations, source.rubric, source.gold, None, resampling
        )
        assert study.rubric is not None
        if study.rubric.subject is not SubjectKind.TRAJECTORY:
            raise UsageError(
                f"The rubric '{source.rubric}' scores single calls of an agent; a judge reads "
                "conversations. Take one with 'subject: trajectory'."
            )
        records = read_conversations(source.trajectories, KnownScenarios.load(source.scenarios))
        data = calibration_data(study, records, dealing, model.asking is Asking.WORD)
        settings = _settings(limits, dealing.seed)
        plan = make_plan(settings, data.splits)
        content = [data.fingerprint, model.settings.identity(), model.asking, dealing.seed]
        folder = out / f"judge-{fingerprint(content, 8)}"
        run = cls(data, model, reflection, settings, dealing, resampling, plan, folder)
        require_known(run.models())
        make_writable(folder)
        return run

    def models(self) -> Mapping[Role, ModelSettings]:
        """Return the models that it calls, by role."""
        models = {Role.JUDGE: self.model.settings}
        if self.reflection is not None:
            models[Role.REFLECTION] = self.reflection
        return models

    def journal(self) -> Journal:
        """Open the run's journal."""
        return Journal(self.folder / JOURNAL)

    def execute(self, journal: Journal, ledger: Ledger, observer: Observer) -> Calibrated:
        """Calibrate, or go on with it.

        Raises:
            CotuneError: A model cannot be used, the run paused, or the budget does not suffice.
        """
        budget = Budget(self.settings.limits)
        with open_models(self.models(), ledger, budget) as models:
            judge = self.model.judge(models[Role.JUDGE], self.data.asked)
            parts = JudgeParts(judge, self.data.asked, self.data.criteria, journal, ledger, budget)
            splits = self.data.splits
            weights = ClassWeights.of([*splits.train, *splits.val])
            task = JudgeTask(parts, splits, weights)
            proposer = self._proposer(models, journal, ledger)
            tuning = JudgeTuning(task, self.settings, proposer, journal, ledger, budget, observer)
            return blocking(self._run(tuning, list(models.values())))

    async def _run(self, tuning: JudgeTuning, models: Sequence[LanguageModel]) -> Calibrated:
        for model in models:
            await check_reachable(model)
        tuned = await tuning.run()
        task = tuning.task
        found = measured(task, tuned, self.data, self.resampling)
        sizes = [len(rubric.criteria) for rubric in task.parts.rubrics.values()]
        asked = round(tuning.journal.count(VERDICTS) * fmean(sizes))
        return Calibrated(task.parts.judge, found, asked)

    def _proposer(
        self, models: Mapping[Role, LanguageModel], journal: Journal, ledger: Ledger
    ) -> Proposer:
        if Role.REFLECTION not in models:
            return LessonsProposer(_RULES, _EXAMPLES, _EXAMPLES_AT_ONCE)
        writer = models[Role.REFLECTION]
        return ReflectionProposer(writer, journal, ledger, self.settings.seed, OF_JUDGES)


def _settings(limits: Limits, seed: int) -> EngineSettings:
    return EngineSettings(
        limits=limits,
        seed=seed,
        search=Search(minibatch=_MINIBATCH, max_prompt_length=_LONGEST_PROMPT),
        selection=Selection(finalists=_FINALISTS),
    )
