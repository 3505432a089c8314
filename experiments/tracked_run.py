"""A run and its MLflow run: opened before, told while it goes on, closed however it ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from ..agents.errors import CotuneError
from ..agents.fingerprint import fingerprint
from ..optimizer.candidate import Candidate
from ..simulation.journal import Journal
from ..simulation.paused import PausedError
from .chronicle import Moment
from .contrast import Contrast
from .live_metrics import LiveMetrics
from .run import DeclinedError
from .run_record import RunRecord
from .tracked_values import About
from .tracking import Tracker

_RUN = "mlflow_run"
_WRITTEN = "mlflow_written"


@dataclass(slots=True)
class TrackedRun:
    """What a run tells MLflow.

    Attributes:
        tracker: Where to; None tells nobody.
        journal: The run's, whose notes hold the id of its MLflow run.
        run_id: The MLflow run; None while MLflow is out of reach.
        live: Who writes while the run goes on.
    """

    tracker: Tracker | None
    journal: Journal
    run_id: str | None = None
    live: LiveMetrics | None = None

    def begin(self, about: About) -> None:
        """Open the MLflow run.

        Raises:
            CotuneError: MLflow cannot be used.
        """
        if self.tracker is not None:
            self.run_id = self.tracker.begin(about, self.journal.note(_RUN))
            self.journal.write_note(_RUN, self.run_id)

    def watch(self) -> None:
        """Write what happens from now on."""
        if self.tracker is not None and self.run_id is not None:
            self.live = LiveMetrics(self.tracker.uri, self.run_id)

    def told(self, moment: Moment, candidate: Candidate | None) -> None:
        """Pass a moment of the run on."""
        if self.live is not None:
            self.live.told(moment, candidate)

    def close(self) -> None:
        """Write what has been passed on."""
        if self.live is not None:
            self.live.close()
            self.live = None

    def log(self, record: RunRecord, page: str, contrasts: Sequence[Contrast]) -> bool:
        """Write the finished run and return whether it was written."""
        self.close()
        if self.tracker is None:
            return False
        if self.run_id is None:  # out of reach when the run began; perhaps no more
            try:
                self.begin(record)
            except CotuneError:
                return False
        assert self.run_id is not None
        written = self.tracker.log(record, page, self.run_id, contrasts)
        if written:
            self.journal.write_note(_WRITTEN, _state(record))
        return written

    def is_written(self, record: RunRecord) -> bool:
        """Whether MLflow has this record."""
        return self.journal.note(_WRITTEN) == _state(record)


@contextmanager
def tracked(
    tracker: Tracker | None, about: About, journal: Journal, warn: Callable[[str], None]
) -> Iterator[TrackedRun]:
    """Open a run in MLflow; however it ends, MLflow knows.

    Args:
        tracker: Where to; None tells nobody.
        about: What is known of the run.
        journal: The run's.
        warn: Told when a tracking server is out of reach; the run goes on without it.

    Raises:
        CotuneError: MLflow is not on a server and cannot be used.
    """
    run = TrackedRun(tracker, journal)
    try:
        run.begin(about)
    except CotuneError as error:
        if tracker is None or not tracker.is_remote:
            raise
        warn(_out_of_reach(tracker, about, error))
    run.watch()
    try:
        yield run
    except BaseException as error:
        run.close()
        if tracker is not None and run.run_id is not None:
            _tell(tracker, run.run_id, error)
        raise


def _tell(tracker: Tracker, run_id: str, error: BaseException) -> None:
    match error:
        case KeyboardInterrupt():
            tracker.pause(run_id, "stopped by the user")
        case PausedError() | DeclinedError():
            tracker.pause(run_id, str(error))
        case CotuneError():
            tracker.fail(run_id, str(error))
        case _:  # SystemExit too, when nobody reads the output any more
            tracker.fail(run_id, repr(error))


def _out_of_reach(tracker: Tracker, about: About, error: CotuneError) -> str:
    return (
        f"{str(error).partition('. ')[0]}. The run goes on, and its folder keeps everything; "
        f"`cotune runs sync {about.name}` writes it to MLflow when the server is back."
    )


def _state(record: RunRecord) -> str:
    """Return what identifies a record; the same one need not be written twice."""
    return fingerprint(record.model_dump(mode="json", exclude={"invocation"}))
