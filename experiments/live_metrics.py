"""Live metrics: a run's curves in MLflow while it goes on, written on a thread of their own.

MLflow is slow to call. The run only puts what happened into a queue; whatever goes wrong here is
nobody's problem, because the end of the run writes every point that is missing.
"""

from __future__ import annotations

import logging
from queue import Empty, SimpleQueue
from threading import Thread

from ..agents.redact import public
from ..optimizer.candidate import Candidate
from .chronicle import Moment
from .mlflow_access import connected, first_line
from .stage_runs import add_points, begin_stage, points_of
from .tracked_curves import Curves, Decided, Point

_GATHERED_FOR = 2.0
_SECONDS_TO_END = 10.0
_log = logging.getLogger(__name__)

_Told = tuple[Moment, Decided | None]


class LiveMetrics:
    """Writes the points of a run as they come."""

    def __init__(self, uri: str, run_id: str) -> None:
        """Start the thread.

        Args:
            uri: MLflow's tracking URI.
            run_id: The run.
        """
        self._uri = uri
        self._run_id = run_id
        self._curves = Curves()
        self._written: set[Point] | None = None
        self._queue: SimpleQueue[_Told | None] = SimpleQueue()
        self._thread = Thread(target=self._work, name="cotune-live-metrics", daemon=True)
        self._thread.start()

    def told(self, moment: Moment, candidate: Candidate | None) -> None:
        """Take note of a moment; returns at once."""
        self._queue.put((moment, None if candidate is None else Decided.of(candidate)))

    def close(self) -> None:
        """Write what is in the queue, and end."""
        self._queue.put(None)
        self._thread.join(_SECONDS_TO_END)

    def _work(self) -> None:
        try:
            ended = False
            while not ended:
                batch, ended = self._gathered()
                self._write(batch)
        except Exception as error:  # the end of the run writes it all
            said = public(first_line(error))
            _log.debug("no live metrics at %s any more: %s", public(self._uri), said)

    def _gathered(self) -> tuple[list[_Told], bool]:
        """Return what comes within some time of the first thing, and whether it is the last."""
        batch: list[_Told] = []
        wait: float | None = None
        while True:
            try:
                told = self._queue.get(timeout=wait)
            except Empty:
                return batch, False
            if told is None:
                return batch, True
            batch.append(told)
            wait = _GATHERED_FOR

    def _write(self, batch: list[_Told]) -> None:
        client = connected(self._uri)
        points: list[Point] = []
        for moment, decided in batch:
            points += self._curves.moment(moment)
            if decided is not None:
                points += self._curves.candidate(decided, moment.usd)
        stages = [moment.stage for moment, decided in batch if decided is None]
        if stages:
            begin_stage(client, self._run_id, stages[-1])
        if self._written is None:  # a run that is resumed has some
            self._written = points_of(client, self._run_id)
        add_points(client, self._run_id, [one for one in points if one not in self._written])
        self._written.update(points)
