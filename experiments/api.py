"""cotune from Python: what the command line does, as functions.

Each checks everything before anything is spent, keeps what it pays for in a folder of its own and
goes on from there when it is called again, as the command does. What they return shows itself in
a notebook.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from rich.console import Console

from ..agents.errors import UsageError
from ..agents.ledger import Ledger
from ..agents.problem import problems_of
from ..optimizer.observer import Observer, Silent
from ..rubrics.judge_card import JudgeCard
from ..rubrics.tally import Tally
from ..simulation.summary import Summary
from .agent_run import AgentRun
from .bundle_match import BundleMatch
from .calibration import calibrate as carry_out_calibration
from .calibration_config import CalibrationConfig
from .carded_judge import CardedJudge
from .compared import (
    ComparedSides,
    bundle_of,
    require_nothing_played,
    require_two,
    side_of,
)
from .compared import compare as compare_sides
from .config import RunConfig, load_config
from .judge_model import JudgeModel
from .judging_progress import JudgingProgress
from .judging_run import JudgingRun
from .optimization import Optimization, Watch
from .optimization import optimize as carry_out
from .progress import RunProgress
from .run import Run
from .simulation_progress import SimulationProgress
from .simulation_run import SimulationRun
from .system_run import SystemRun

Config = str | Path | RunConfig
_RUNS = Path("cotune-runs")
_SPLIT = "test"


@dataclass(frozen=True, slots=True)
class Simulation:
    """Conversations that were played.

    Attributes:
        trajectories: The file they are in.
        summary: What they came to.
    """

    trajectories: Path
    summary: Summary


def optimize_agent(
    agent: str, config: Config, *, track: bool = False, progress: bool = True, **changes: Any
) -> Optimization:
    """Optimize one agent's prompt, as `cotune optimize agent` does.

    Args:
        agent: Its name.
        config: A configuration, or its file.
        track: Whether MLflow is told.
        progress: Whether to show on standard error how far it is.
        **changes: Fields of the configuration, at its top level, such as `seed=1`.

    Raises:
        CotuneError: Something is missing or wrong, or the run paused.
    """
    run = AgentRun.prepare(configured(config, **changes), agent, f"optimize_agent({agent!r})")
    return _optimized(run, "rollout", track=track, progress=progress)


def optimize_system(
    config: Config,
    *,
    started_from: Sequence[str | Path] = (),
    least_kappa: float | None = None,
    track: bool = False,
    progress: bool = True,
    **changes: Any,
) -> Optimization:
    """Tune the prompts of all agents together, as `cotune optimize system` does.

    Args:
        config: A configuration, or its file.
        started_from: Folders of other runs, whose winners' prompts it starts from.
        least_kappa: Least agreement of the judge with people, by its card; None requires none.
        track: Whether MLflow is told.
        progress: Whether to show on standard error how far it is.
        **changes: Fields of the configuration, at its top level, such as `seed=1`.

    Raises:
        CotuneError: Something is missing or wrong, or the run paused.
    """
    runs = [Path(each) for each in started_from]
    run = SystemRun.prepare(configured(config, **changes), runs, "optimize_system()")
    if least_kappa is not None:
        run.require_calibrated(least_kappa)
    return _optimized(run, "conversation", track=track, progress=progress)


def simulate(
    config: Config,
    *,
    scenarios: int | None = None,
    split: str | None = None,
    progress: bool = True,
    **changes: Any,
) -> Simulation:
    """Play conversations between simulated customers and the assistant, as `cotune simulate` does.

    Args:
        config: A configuration, or its file.
        scenarios: Scenarios that are played at most; all when None.
        split: Of the configuration, from which they are; from all when None.
        progress: Whether to show on standard error how far it is.
        **changes: Fields of the configuration, at its top level, such as `seed=1`.

    Raises:
        CotuneError: Something is missing or wrong, or it stopped early; what was played is kept.
    """
    run, ledger = SimulationRun.prepare(configured(config, **changes), scenarios, split), Ledger()
    with SimulationProgress(_console(progress), ledger, len(run.workload)) as told:
        end = run.execute(ledger, told)
    if end.stopped is not None:
        raise end.stopped
    return Simulation(run.trajectories, end.summary)


def judge(
    trajectories: str | Path,
    rubric: str,
    out: str | Path,
    *,
    by: JudgeModel | str | Path | None = None,
    scenarios: str | None = None,
    tokens: int | None = None,
    usd: float | None = None,
    progress: bool = True,
) -> Tally:
    """Judge conversations and write the verdicts, as `cotune judge` does.

    Args:
        trajectories: The conversations' file.
        rubric: A pack or a file.
        out: The verdicts file to write.
        by: Who decides what checks leave open: a model, or the card of a calibrated judge;
            nobody when None.
        scenarios: What was played, a pack or a file; the grocery pack when None.
        tokens: Tokens to use at most.
        usd: US dollars to spend at most.
        progress: Whether to show on standard error how far it is.

    Raises:
        CotuneError: Something is missing or wrong, or it stopped early.
    """
    run = JudgingRun.prepare(
        Path(trajectories),
        rubric,
        scenarios=scenarios,
        model=CardedJudge.load(Path(by)) if isinstance(by, str | Path) else by,
        tokens=tokens,
        usd=usd,
        out=Path(out),
    )
    ledger = Ledger()
    with (
        run.journal() as journal,
        JudgingProgress(_console(progress), ledger, run.survey.conversations) as told,
    ):
        return run.execute(journal, ledger, told)


def calibrate(
    config: str | Path | None = None, *, progress: bool = True, **changes: Any
) -> JudgeCard:
    """Make a judge agree with people and return its card, as `cotune calibrate` does.

    Args:
        config: The file of a `CalibrationConfig`.
        progress: Whether to show on standard error how far it is.
        **changes: Its fields, such as `judge="openai/gpt-4.1-mini"`.

    Raises:
        CotuneError: Something is missing or wrong, there are too few labels, or the run paused.
    """
    said = CalibrationConfig() if config is None else CalibrationConfig.load(Path(config))
    run = said.overridden(changes).prepared()
    ledger = Ledger()
    with _progress(progress, ledger, "conversation") as observer:
        return carry_out_calibration(run, ledger, observer)


def compare(
    a: str | Path,
    b: str | Path,
    config: Config | None = None,
    *,
    agent: str | None = None,
    split: str = _SPLIT,
    out: str | Path = _RUNS,
    progress: bool = True,
    **changes: Any,
) -> ComparedSides:
    """Compare two sides in pairs, as `cotune compare` does.

    Args:
        a: A finished run or a verdicts file; with `config` prompts, see `load_bundle`.
        b: Likewise.
        config: Of the assistant; both sides' prompts are played first.
        agent: The agent that is called alone; None plays whole conversations.
        split: What is played: train, val or test.
        out: The folder in which runs are looked for by name, where nothing is played.
        progress: Whether to show on standard error how far it is.
        **changes: Fields of the configuration, at its top level, such as `seed=1`.

    Raises:
        CotuneError: Something is missing or wrong, or the sides have nothing in common.
    """
    require_two(a, b)
    if config is None:
        unusual = None if split == _SPLIT else split
        require_nothing_played({"agent": agent, "split": unusual, **changes}, "config")
        one, other = (side_of(Path(each), Path(out)) for each in (a, b))
        return compare_sides(one, other)
    known = configured(config, **changes)
    bundles = {str(each): bundle_of(str(each), known.out) for each in (a, b)}
    match = BundleMatch.prepare(known, agent, bundles, split)
    ledger = Ledger()
    with match.run.journal() as journal, _progress(progress, ledger, "rollout") as observer:
        match.execute(journal, ledger, observer)
    return compare_sides(*match.sides(), known.test, known.seed)


def configured(config: Config, **changes: Any) -> RunConfig:
    """Return a configuration with some of its fields changed.

    Args:
        config: A configuration, or its file.
        **changes: Fields at its top level, whole.

    Raises:
        UsageError: The file cannot be used, or a field means nothing.
    """
    known = config if isinstance(config, RunConfig) else load_config(Path(config))
    if not changes:
        return known
    try:
        return RunConfig.model_validate({**dict(known), **changes})
    except ValidationError as error:
        place, said = next(problems_of(error, RunConfig))
        raise UsageError(f"{'.'.join(str(part) for part in place)}: {said}.") from error


def _optimized(run: Run, noun: str, *, track: bool, progress: bool) -> Optimization:
    ledger, console = Ledger(), Console(stderr=True)
    with _progress(progress, ledger, noun) as observer:
        watch = Watch(ledger, observer, lambda survey: True, partial(console.print, markup=False))
        return carry_out(run, watch, track=track)


def _progress(shown: bool, ledger: Ledger, noun: str) -> AbstractContextManager[Observer]:
    return RunProgress(_console(True), ledger, noun) if shown else nullcontext(Silent())


def _console(shown: bool) -> Console:
    return Console(stderr=True, quiet=not shown)
