"""`cotune optimize`: one run, shown, tracked and reported."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import typer
from rich.console import Console

from ...agents.errors import UsageError
from ...agents.ledger import Ledger
from ...optimizer.engine import Survey
from ..agent_run import AgentRun
from ..config import RunConfig, load_config
from ..optimization import Watch
from ..optimization import optimize as carry_out
from ..present import announce, announce_noise, conclude
from ..progress import RunProgress
from ..run import GoOn, Run
from ..system_run import SystemRun
from .options import OptimizeOptions, Options
from .resumable import resumable


def run(name: str, config_file: Path, options: Options) -> None:
    """Run the command; see `cotune optimize agent --help`.

    Raises:
        UsageError: The configuration cannot be used, or sets no limit to the rollouts.
    """
    config = options.applied_to(load_config(config_file))
    _require_a_limit(config, config_file)
    optimize_agent(config, name, options)


def run_system(config_file: Path, options: OptimizeOptions) -> None:
    """Run the command; see `cotune optimize system --help`.

    Raises:
        UsageError: The configuration cannot be used, or sets no limit to the rollouts.
    """
    config = options.applied_to(load_config(config_file))
    _require_a_limit(config, config_file)
    optimize_system(config, options)


def optimize_agent(config: RunConfig, name: str, options: Options) -> None:
    """Optimize one agent; see `optimize`."""
    optimize(AgentRun.prepare(config, name, _typed()), options, _always)


def optimize_system(config: RunConfig, options: OptimizeOptions) -> None:
    """Optimize the whole assistant; see `optimize`."""
    ask = sys.stdin.isatty() and not options.yes
    prepared = SystemRun.prepare(config, options.started_from, _typed())
    if options.least_kappa is not None:
        prepared.require_calibrated(options.least_kappa)
    optimize(prepared, options.common, _asked if ask else _always, "conversation")


def optimize(run_: Run, options: Options, go_on: GoOn, noun: str = "rollout") -> None:
    """Run, show, track and report.

    Args:
        run_: What is checked and ready.
        options: What the command line says.
        go_on: Whether to spend the budget, now that it is known what it buys.
        noun: What a rollout is called.
    """
    console, ledger = Console(stderr=options.as_json), Ledger()
    announce(run_, console)

    def surveyed(survey: Survey) -> bool:
        announce_noise(survey, console)
        return go_on(survey)

    with resumable(), RunProgress(console, ledger, noun) as progress:
        watch = Watch(ledger, progress, surveyed, _warning(console))
        done = carry_out(run_, watch, track=options.track)
    conclude(done.record, done.report, done.tracking, console)
    if options.as_json:
        typer.echo(done.record.model_dump_json(indent=2))


def _require_a_limit(config: RunConfig, config_file: Path) -> None:
    if config.limits.rollouts is None:
        raise UsageError(
            f"The configuration {config_file} has no limits.rollouts, and nothing is optimized "
            "without a limit. Add 'limits: {rollouts: 400}', or as many scored calls as you can "
            "afford; when that buys no candidate, the command says how many do."
        )


def _typed() -> str:
    return shlex.join(["cotune", *sys.argv[1:]])


def _always(survey: Survey) -> bool:
    return True


def _asked(survey: Survey) -> bool:
    return typer.confirm("Go on?", default=True, err=True)


def _warning(console: Console) -> Callable[[str], None]:
    return lambda said: console.print(said, style="yellow", markup=False, highlight=False)
