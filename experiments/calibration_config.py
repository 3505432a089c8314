"""The configuration of a calibration: one YAML file, and what the command line says instead."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..agents.budget import Limits
from ..agents.errors import UsageError
from ..agents.models import ModelSettings
from ..agents.problem import problems_of
from ..agents.yaml_file import load_yaml
from ..rubrics.clustered_estimate import Resampling
from ..rubrics.gold import GoldMethod
from ..simulation.scenario_split import Shares
from .calibration_data import Dealing
from .calibration_run import CalibrationRun, Source
from .commands.options import SHORT_NAMES
from .judge_model import TIMEOUT, Asking, JudgeModel, fitting_tokens
from .task_config import rubric_at, scenarios_at

_LONGEST_PROMPT = 4096  # tokens that a writer of prompts may take
_LEAST_TESTED = 0.05


class CalibrationConfig(BaseModel):
    """All that a calibration may be told; the command line has an option for each field.

    Attributes:
        annotations: Files of annotations.
        trajectories: The file of the conversations that were annotated.
        rubric: A pack or a file.
        scenarios: What was played: a pack or a file.
        judge: The model that judges: a model string, or all its settings.
        api_base: Address of an OpenAI-compatible endpoint for it.
        api_key_env: Environment variable that holds its key.
        strategy: What is asked in one call, or `word`.
        repeats: How often each question is asked; not with `word`.
        conversation_tokens: What a conversation may take; what suits the model when absent.
        reflection: The model that writes prompts; without one, lessons do.
        gold: How several people's values become one.
        certainty: Share of people that agree on a label to tune by.
        train: Share of the conversations to learn from.
        val: Share to choose by; the rest is the test.
        tested: Conversations in the test at most.
        width: Wanted width of the interval of kappa.
        rollouts: Conversations to judge at most, the test included.
        tokens: Tokens to use at most.
        usd: US dollars to spend at most.
        seed: Same seed, same run.
        out: Folder for the runs.
        mlflow: Tracking URI of the MLflow that gets the card, too.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    annotations: tuple[Path, ...] = ()
    trajectories: Path | None = None
    rubric: str | None = Field(default=None, min_length=1)
    scenarios: str | None = Field(default=None, min_length=1)
    judge: str | ModelSettings | None = None
    api_base: str | None = None
    api_key_env: str | None = None
    strategy: Asking = Asking.DOMAIN
    repeats: int = Field(default=1, ge=1, le=99)
    conversation_tokens: int | None = Field(default=None, ge=100)
    reflection: str | ModelSettings | None = None
    gold: GoldMethod = GoldMethod.MAJORITY
    certainty: float = Field(default=0.0, ge=0, le=1)
    train: float = Field(default=0.25, ge=0.05, le=0.9)
    val: float = Field(default=0.25, ge=0.05, le=0.9)
    tested: int | None = Field(default=None, ge=10)
    width: float = Field(default=0.4, ge=0.05, le=1)
    rollouts: int = Field(default=1000, ge=1)
    tokens: int | None = Field(default=None, ge=1)
    usd: float | None = Field(default=None, gt=0)
    seed: int = Field(default=0, ge=0)
    out: Path = Path("cotune-runs")
    mlflow: str | None = None

    @classmethod
    def load(cls, path: Path) -> CalibrationConfig:
        """Read a file; paths in it are relative to its folder.

        Raises:
            UsageError: It cannot be used; the message names line and field.
        """
        config, base = load_yaml(cls, path, "configuration"), path.parent
        paths: dict[str, object] = {
            "annotations": tuple(base / each for each in config.annotations),
            "trajectories": config.trajectories and base / config.trajectories,
            "rubric": config.rubric and rubric_at(base, config.rubric),
            "scenarios": config.scenarios and scenarios_at(base, config.scenarios),
            "out": base / config.out,
        }
        return config.model_copy(update=paths)

    def overridden(self, options: Mapping[str, Any]) -> CalibrationConfig:
        """Return the configuration with what the command line says instead.

        Raises:
            UsageError: An option means nothing.
        """
        try:
            said = CalibrationConfig.model_validate(options)
        except ValidationError as error:
            problems = (
                f"--{'.'.join(map(str, at)).replace('_', '-')}: {message}."
                for at, message in problems_of(error, CalibrationConfig)
            )
            raise UsageError(" ".join(problems)) from error
        return self.model_copy(update=said.model_dump(include=set(options)))

    def prepared(self) -> CalibrationRun:
        """Return the calibration, everything it needs read and checked.

        Raises:
            CotuneError: Something is missing or wrong, or there are too few labels.
        """
        return CalibrationRun.prepare(
            self.source(),
            self.judge_model(),
            self.writer(),
            dealing=self.dealing(),
            limits=self.limits(),
            resampling=Resampling(seed=self.seed),
            out=self.out,
        )

    def source(self) -> Source:
        """Return where everything comes from.

        Raises:
            UsageError: Something is missing.
        """
        if not self.annotations:
            raise _missing("annotations", "ANNOTATIONS after the command")
        if self.trajectories is None:
            raise _missing("trajectories", "--trajectories FILE")
        if self.rubric is None:
            raise _missing("rubric", "--rubric RUBRIC")
        return Source(self.annotations, self.trajectories, self.rubric, self.scenarios, self.gold)

    def judge_model(self) -> JudgeModel:
        """Return the judge to be.

        Raises:
            UsageError: There is none, or it cannot be asked like this.
        """
        if self.judge is None:
            raise _missing("judge", "--judge MODEL")
        if self.strategy is Asking.WORD and self.repeats > 1:
            raise UsageError("repeats mean nothing with the strategy 'word': a probability is one.")
        settings = _settings(self.judge, timeout=TIMEOUT)
        endpoint = {"api_base": self.api_base, "api_key_env": self.api_key_env}
        settings = settings.model_copy(update={k: v for k, v in endpoint.items() if v is not None})
        tokens = self.conversation_tokens or fitting_tokens(settings, self.strategy)
        return JudgeModel(settings, self.strategy, self.repeats, tokens)

    def writer(self) -> ModelSettings | None:
        """Return the model that writes prompts; None for lessons."""
        if self.reflection is None:
            return None
        return _settings(self.reflection, max_tokens=_LONGEST_PROMPT)

    def dealing(self) -> Dealing:
        """Return how labels are chosen and dealt out.

        Raises:
            UsageError: Nothing is left for the test.
        """
        test = 1.0 - self.train - self.val
        if test <= _LEAST_TESTED:
            raise UsageError(
                f"train {self.train:g} and val {self.val:g} leave too little for the test: more "
                f"than {_LEAST_TESTED:g} has to be left."
            )
        shares = Shares(train=self.train, val=self.val, test=test)
        return Dealing(shares, self.seed, self.certainty, self.tested, self.width)

    def limits(self) -> Limits:
        """Return what may be spent."""
        return Limits(rollouts=self.rollouts, tokens=self.tokens, usd=self.usd)


def _settings(model: str | ModelSettings, **more: Any) -> ModelSettings:
    if isinstance(model, ModelSettings):
        return model
    return ModelSettings(model=SHORT_NAMES.get(model, model), **more)


def _missing(field: str, option: str) -> UsageError:
    return UsageError(
        f"It is not said what '{field}' is: give {option}, or '{field}' in the file of --config."
    )
