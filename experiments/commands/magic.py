"""`cotune experiment magic`: the comparison of the paper, run, shown and written down."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import typer
from rich.console import Console
from rich.markup import escape

from ...agents.errors import UsageError
from ...agents.grocery.assistant import PROMPTS
from ...agents.ledger import Ledger
from ...agents.models import LOCAL, SCRIPTED, ModelSettings
from ...optimizer.observer import Observer
from ..config import Models, RunConfig, load_config
from ..magic.experiment import MagicRun
from ..magic.page import render_page, save_page
from ..magic.present import announce, conclude
from ..magic.record import MagicRecord
from ..magic.tracked import log_comparison
from ..progress import RunProgress
from .options import Options
from .resumable import resumable

_CONFIGS = Path(__file__).parent.parent / "magic"
_MLFLOW_NOTE = "mlflow_magic_run"


@dataclass(frozen=True, slots=True)
class MagicOptions:
    """What the command line may say of a comparison; None leaves it as the configuration has it.

    Attributes:
        common: What other commands have, too.
        rollouts: Each arm's budget for search and selection.
        train: Scenarios of the train split at most.
        val: Of the val split.
        test: Of the held-out split.
        tokens: Of everything together.
        usd: US dollars, likewise.
        minutes: How long it may take.
        hosted: Whether a model that costs money may be called.
    """

    common: Options
    rollouts: int | None = None
    train: int | None = None
    val: int | None = None
    test: int | None = None
    tokens: int | None = None
    usd: float | None = None
    minutes: float | None = None
    hosted: bool = False

    def applied_to(self, config: RunConfig) -> RunConfig:
        """Return the configuration with these options instead.

        Raises:
            UsageError: A hosted model is named without `--hosted` and a limit.
        """
        config = self.common.applied_to(config)
        given = {"rollouts": self.rollouts, "tokens": self.tokens, "usd": self.usd}
        limits = config.limits.model_copy(update=_said(given))
        sizes = _said({"train": self.train, "val": self.val, "test": self.test})
        use = config.system.use.model_copy(update=sizes)
        system = config.system.model_copy(update={"use": use})
        config = config.model_copy(update={"limits": limits, "system": system})
        self._require_consent(config)
        return config

    def _require_consent(self, config: RunConfig) -> None:
        models = config.models
        used = (models.task, models.of_customers, models.judge, models.reflection)
        paid = [one.model for one in used if one and not (one.is_local or one.is_scripted)]
        if not paid:
            return
        limited = config.limits.tokens is not None or config.limits.usd is not None
        if not (self.hosted and limited):
            raise UsageError(
                f"The comparison plays thousands of conversations, and '{paid[0]}' may cost "
                "money for each. Say --hosted, and give a limit on everything together: --usd 5 "
                "or --tokens 2000000."
            )


def run(config_file: Path | None, options: MagicOptions) -> None:
    """Run the command; see `cotune experiment magic --help`.

    Raises:
        UsageError: Something is missing or wrong.
        CotuneError: A model cannot be used, the run paused, or the budget does not suffice.
    """
    if config_file is None:
        config = options.applied_to(_fitting(options.common.model, options.common.api_base))
    else:
        config = options.applied_to(load_config(config_file))
    compare(config, options)


def compare(config: RunConfig, options: MagicOptions) -> MagicRecord:
    """Run, show, write down and track."""
    common = options.common
    console = Console(stderr=common.as_json)
    command = shlex.join(["cotune", *sys.argv[1:]])
    run_ = MagicRun.prepare(config, options.minutes, command)
    announce(run_, console)

    @contextmanager
    def watch(name: str, ledger: Ledger) -> Iterator[Observer]:
        console.print(escape(name), style="bold", highlight=False)
        with RunProgress(console, ledger) as progress:
            yield progress

    with resumable(), run_.journal() as journal:
        record = run_.execute(journal, watch)
        written = record.save(run_.folder)
        page = save_page(render_page(record), run_.folder)
        for arm in record.arms:
            run_.system.seed.with_texts(arm.prompts).save(run_.folder / "prompts" / arm.arm)
        if common.track:
            known = journal.note(_MLFLOW_NOTE)
            run_id = log_comparison(record, (written, page), config.tracking, known)
            if run_id is not None:
                journal.write_note(_MLFLOW_NOTE, run_id)
    conclude(record, page, console)
    if common.as_json:
        typer.echo(record.model_dump_json(indent=2))
    return record


def _fitting(model: str | None, api_base: str | None) -> RunConfig:
    """Return the configuration that comes with cotune for a kind of model."""
    is_local = model is not None and (model == "local" or model.startswith(LOCAL))
    name = "local.yaml" if is_local else "scripted.yaml"
    config = load_config(_CONFIGS / name, base=PROMPTS.parent)
    config = config.model_copy(update={"out": Path("cotune-runs")})
    if model is None or is_local or model == "scripted" or model.startswith(SCRIPTED):
        return config
    return _hosted(config, ModelSettings(model=model, api_base=api_base, max_tokens=1024))


def _hosted(config: RunConfig, task: ModelSettings) -> RunConfig:
    """A hosted model is good enough to judge and to write prompts, too."""
    judge = task.model_copy(update={"max_tokens": 4096})
    writer = task.model_copy(update={"temperature": None, "max_tokens": None})
    models = Models(task=task, judge=judge, reflection=writer)
    return config.model_copy(update={"models": models, "proposer": "reflection"})


def _said(options: dict[str, int | float | None]) -> dict[str, int | float]:
    return {name: value for name, value in options.items() if value is not None}
