"""One run of the system task: the prompts of the whole assistant, on simulated conversations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..agents.errors import UsageError
from ..agents.fingerprint import fingerprint
from ..agents.ledger import Role
from ..agents.lm import LanguageModel
from ..agents.models import ModelSettings
from ..agents.prompts import PromptBundle
from ..optimizer.plan import make_plan
from ..optimizer.proposers.joint import JointProposer
from ..optimizer.proposers.lessons import LessonsProposer
from ..optimizer.proposers.proposer import Proposer
from ..optimizer.result import RunResult
from ..optimizer.system_task import SystemTask
from ..optimizer.task import Task
from ..rubrics.judge import Judge
from ..rubrics.rubric import Rubric
from ..rubrics.rubric_file import load_rubric
from ..rubrics.subject import SubjectKind
from ..rubrics.verdict_journal import VerdictJournal
from ..simulation.account import Account
from ..simulation.attempts import Attempts
from ..simulation.observer import Unwatched
from ..simulation.player import Player
from .carded_judge import CardedJudge
from .config import RunConfig
from .contrast import Contrast, most_changed
from .conversing import engine_of, models_of, require_playable, setup_of
from .judge_model import JudgeModel, JudgeSource
from .run import Built, Means, Run, about_run
from .seed_prompts import load_seed, unfit_for
from .tested_side import Tested, TestedSide, side_of_conversations
from .warm_start import WarmStart, warm_started

_IN_VAIN = "conversations_in_vain"


@dataclass(frozen=True, slots=True)
class SystemRun(Run):
    """A run that optimizes the whole assistant; see `Run`.

    Attributes:
        judge: Who decides what checks leave open; nobody when None.
        warm_starts: The runs whose prompts it starts from.
    """

    judge: JudgeSource | None
    warm_starts: tuple[WarmStart, ...]

    @classmethod
    def prepare(cls, config: RunConfig, runs: Sequence[Path], command: str) -> SystemRun:
        """Read and check everything a run needs.

        Args:
            config: The configuration.
            runs: Folders of other runs, whose winners' prompts it starts from.
            command: What was typed.

        Raises:
            UsageError: Something is missing or wrong.
            CotuneError: A model cannot be used, or the run's folder cannot be written.
        """
        config, judge = _with_judge(config)
        seed, warm_starts = warm_started(load_seed(config), runs, config.out)
        rubric = load_rubric(config.system.rubric)
        _require_conversations(rubric)
        splits = config.system.load_splits(config.simulation.scenarios)
        plan = make_plan(config, splits)
        folder = config.out / f"system-{_run_id(config, seed, rubric)}"
        started_from = [start.sentence for start in warm_starts]
        about = about_run("system", folder, config, rubric, command, started_from)
        if isinstance(judge, CardedJudge):
            about = replace(about, card=judge.card)
        run = cls(config, seed, splits, rubric, plan, folder, about, judge, warm_starts)
        return run.checked()

    def require_calibrated(self, kappa: float) -> None:
        """Refuse a judge without a card, or one that agrees less with people than this.

        Raises:
            UsageError: It is refused.
        """
        if not isinstance(self.judge, CardedJudge):
            raise UsageError(
                "--require-calibrated needs a judge with a card: name it in the configuration "
                "under system.judge.card. `cotune calibrate` makes one."
            )
        self.judge.require(kappa)

    @property
    def subject(self) -> str:
        """What is optimized, for people."""
        return f"All {len(self.seed)} agents of '{self.config.assistant.name}'"

    def models(self) -> Mapping[Role, ModelSettings]:
        """Return the models that it calls, by role."""
        models = models_of(self.config)
        if self.judge is not None:
            models[Role.JUDGE] = self.judge.settings
        if self.config.proposer == "reflection" and self.config.models.reflection is not None:
            models[Role.REFLECTION] = self.config.models.reflection
        return models

    def build(self, means: Means) -> Built:
        """Build the task and who writes the prompts."""
        player = self._player(means)
        others = means.connect(Role.JUDGE, Role.REFLECTION)
        task = self._task(means, player, self._judge(others))
        proposer: Proposer = LessonsProposer()
        if Role.REFLECTION in others:
            writer = others[Role.REFLECTION]
            proposer = JointProposer(writer, means.journal, means.ledger, self.config.seed)
        models = [*player.models.values(), *others.values()]
        return Built(task, proposer, models, unfit_for(self.config.assistant, self.seed))

    def contrasts(self, task: Task[Any], result: RunResult) -> tuple[Contrast, ...]:
        """Return the conversations of the test that changed most, from the journal."""
        if result.held_out is None or not isinstance(task, SystemTask):
            return ()
        return most_changed(task, result.winner.bundle, self.config.test.repeats)

    def side(self, task: Task[Any], rollouts: Sequence[Tested]) -> TestedSide:
        """Return what was played with some prompts, as files keep it."""
        assert isinstance(task, SystemTask)
        return side_of_conversations(task, rollouts)

    def _player(self, means: Means) -> Player:
        setup = setup_of(self.config, means.models, means.served)
        player = Player.of(setup, means.ledger, means.budget)
        for split, scenarios in self.splits.named().items():
            require_playable(player, self.seed, scenarios, f"the {split} split")
        return player

    def _task(self, means: Means, player: Player, judge: Judge | None) -> SystemTask:
        setup = setup_of(self.config, means.models, means.served)
        engine = engine_of(self.config, setup, player, means.ledger, means.budget)
        means.closing.push_async_callback(engine.aclose)
        account = Account(means.journal, means.ledger, means.budget, _IN_VAIN)
        decisions = VerdictJournal(self.rubric, judge, means.journal, means.ledger, means.budget)
        for paid in (account, decisions.account):
            paid.count_in_vain()
        return SystemTask(
            name=self.config.assistant.name,
            seed=self.seed,
            splits=self.splits,
            attempts=Attempts(engine, account, self.config.simulation.again, Unwatched()),
            decisions=decisions,
            player=player.identity,
            random_seed=self.config.seed,
        )

    def _judge(self, models: Mapping[Role, LanguageModel]) -> Judge | None:
        if self.judge is None:
            return None
        return self.judge.judge(models[Role.JUDGE], self.rubric)


def _with_judge(config: RunConfig) -> tuple[RunConfig, JudgeSource | None]:
    """Return who judges, and the configuration with the model that this takes."""
    card, model = config.system.judge.card, config.models.judge
    if card is None:
        return config, model and JudgeModel.of(model, config.system.judge)
    if model is not None:
        raise UsageError(
            f"system.judge.card is {card}, and says itself which model judges; leave out "
            "models.judge."
        )
    judge = CardedJudge.load(card)
    models = config.models.model_copy(update={"judge": judge.settings})
    return config.model_copy(update={"models": models}), judge


def _require_conversations(rubric: Rubric) -> None:
    if rubric.subject is not SubjectKind.TRAJECTORY:
        raise UsageError(
            f"system.rubric: '{rubric.id}' scores single calls of an agent, not conversations; it "
            "is for `cotune optimize agent`. Take one with 'subject: trajectory', such as magic."
        )


def _run_id(config: RunConfig, seed: PromptBundle, rubric: Rubric) -> str:
    """Name what makes a run another run, so that it gets a folder of its own.

    Limits and other settings are left out: a run with a higher limit goes on from the journal of
    the lower one.
    """
    models = config.models
    used = (models.task, models.of_customers, models.judge, models.reflection)
    content = [
        config.assistant.name,
        config.proposer,
        config.seed,
        [model and model.identity() for model in used],
        seed.fingerprint,
        rubric.fingerprint,
        config.system.judge.model_dump(mode="json"),
        config.simulation.user.model_dump(mode="json"),
        config.simulation.conversation.identity,
    ]
    return fingerprint(content, 8)
