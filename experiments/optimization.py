"""An optimization from start to end: run, written down in its folder, and told to MLflow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from markupsafe import Markup

from ..agents.ledger import Ledger
from ..agents.prompts import PromptBundle
from ..optimizer.candidate_frame import candidate_frame
from ..optimizer.observer import Observer
from .chronicle import Chronicle, Together
from .conclusion import reading, sentence, simulation_html
from .contrast import save_contrasts
from .paired_detail import PairedDetail, paired_detail
from .report import render_report, save_report
from .run import Finished, GoOn, Run
from .run_record import RunRecord, record_of
from .tested_side import FOLDER as TESTED
from .tested_side import SEED, WINNER
from .tracked_run import tracked
from .tracking import Tracker

if TYPE_CHECKING:
    from pandas import DataFrame

_PROMPTS = "prompts"


@dataclass(frozen=True, slots=True)
class Optimization:
    """A finished optimization.

    Attributes:
        record: What came of it.
        folder: Its folder.
        report: Its page.
        tracking: Where MLflow has it; None when it has not.
    """

    record: RunRecord
    folder: Path
    report: Path
    tracking: str | None

    @property
    def prompts(self) -> PromptBundle:
        """The prompts that were chosen; the seed's when none were better."""
        return self.record.chosen.bundle

    def to_dataframe(self) -> DataFrame:
        """Return a row for each candidate; see `candidate_frame`."""
        return candidate_frame(self.record.candidates, self.record.winner)

    def _repr_html_(self) -> str:
        """Show the conclusion, what it means and the candidates in a notebook."""
        table = Markup(self.to_dataframe().to_html(float_format="%.3f"))  # noqa: S704
        return Markup("<p><strong>{}</strong></p><p>{}</p>{}{}<p>Report: {}</p>").format(
            sentence(self.record),
            reading(self.record),
            simulation_html(self.record.simulated),
            table,
            self.report,
        )


@dataclass(frozen=True, slots=True)
class Watch:
    """Who is told while an optimization goes on.

    Attributes:
        ledger: Where its calls are counted.
        observer: Told what happens.
        go_on: Asked once it is known what the budget buys.
        warn: Told what goes wrong without stopping the run.
    """

    ledger: Ledger
    observer: Observer
    go_on: GoOn
    warn: Callable[[str], None]


def optimize(run: Run, watch: Watch, *, track: bool) -> Optimization:
    """Run, or go on with a run, and write down what came of it.

    Args:
        run: What is checked and ready.
        watch: Who is told.
        track: Whether MLflow is.

    Raises:
        DeclinedError: It is not to go on.
        CotuneError: A model cannot be used, the run paused, or the budget does not suffice.
    """
    tracking = run.config.tracking
    tracker = Tracker(tracking.uri, tracking.experiment) if track else None
    with run.journal() as journal, tracked(tracker, run.about, journal, watch.warn) as mlflow:
        chronicle = Chronicle(watch.ledger, mlflow.told)
        observer = Together((chronicle, watch.observer))
        finished = run.execute(journal, watch.ledger, observer, watch.go_on)
        detail = _detail(run, finished)
        record = record_of(finished.result, run.about, chronicle, detail=detail)
        page = render_report(record, finished.contrasts)
        report = _written(run.folder, record, page, finished)
        told = mlflow.log(record, page, finished.contrasts)
    return Optimization(record, run.folder, report, tracking.uri if told else None)


def _written(folder: Path, record: RunRecord, page: str, finished: Finished) -> Path:
    """Write everything into the run's folder and return the page's path."""
    record.save(folder)
    finished.result.winner.bundle.save(folder / _PROMPTS)
    if finished.contrasts:
        save_contrasts(finished.contrasts, folder)
    for name, side in finished.sides.items():
        side.save(folder / TESTED, name)
    return save_report(page, folder)


def _detail(run: Run, finished: Finished) -> PairedDetail | None:
    if not finished.sides:
        return None
    before, after = (finished.sides[name].rulings for name in (SEED, WINNER))
    return paired_detail(before, after, run.config.test, run.config.seed)
