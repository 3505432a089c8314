from __future__ import annotations

from typing import Any

import plotly.graph_objects as go
import pytest

from cotune.experiments.charts import LINE, front_figure, money_figure, score_figure
from cotune.experiments.record_parts import CandidateRecord
from cotune.experiments.run_record import RunRecord, record_of
from cotune.optimizer.candidate import Status
from cotune.optimizer.result import RunResult

from .conftest import HOSTILE, about


def _trace(figure: go.Figure, name: str) -> Any:
    traces: Any = figure.data
    (trace,) = [trace for trace in traces if trace.name == name]
    return trace


def _candidate(number: int, length: int, score: float | None, **changes: Any) -> CandidateRecord:
    known: dict[str, Any] = {
        "number": number,
        "parent": number - 1 if number else None,
        "status": Status.ACCEPTED if number else Status.SEED,
        "reason": "better than its parent",
        "rollouts": 10 * (number + 1),
        "before": None,
        "after": None,
        "val_score": score,
        "objectives": {},
        "length": length,
        "wins": 0,
        "on_example_front": False,
        "on_objective_front": False,
        "fingerprint": str(number),
        "prompts": {},
    }
    return CandidateRecord(**{**known, **changes})


@pytest.fixture
def drawn(record: RunRecord) -> RunRecord:
    candidates = (
        _candidate(0, 100, 0.5),
        _candidate(1, 300, 0.4),
        _candidate(2, 200, None, status=Status.REJECTED, parent=0, reason=f"copies {HOSTILE}"),
        _candidate(3, 400, 0.8, parent=1),
        _candidate(4, 500, 0.8, parent=3),
    )
    return record.model_copy(update={"candidates": candidates, "winner": 3, "rollouts": 90})


def test_best_so_far_never_falls_and_reaches_the_end(drawn: RunRecord) -> None:
    line = _trace(score_figure(drawn), "best so far")
    assert list(line.x) == [10, 20, 40, 50, 90]
    assert list(line.y) == [0.5, 0.5, 0.8, 0.8, 0.8]


def test_every_candidate_is_a_point_at_its_rollouts(drawn: RunRecord) -> None:
    figure = score_figure(drawn)
    assert list(_trace(figure, "accepted").x) == [20, 50]
    assert list(_trace(figure, "winner").y) == [0.8]
    assert list(_trace(figure, "not taken, no val score").x) == [30]


def test_the_front_is_what_nothing_beats_in_score_and_brevity(drawn: RunRecord) -> None:
    front = _trace(front_figure(drawn), "Pareto front")
    assert list(zip(front.x, front.y, strict=True)) == [(100, 0.5), (400, 0.8)]


def test_lines_go_from_parent_to_child(drawn: RunRecord) -> None:
    lines = _trace(front_figure(drawn), "parent to child")
    assert list(lines.x) == [100, 300, None, 300, 400, None, 400, 500, None]


def test_hovering_tells_the_reason_and_runs_nothing(drawn: RunRecord) -> None:
    (text,) = _trace(score_figure(drawn), "not taken, no val score").hovertext
    assert "candidate 2</b> (rejected)" in text
    assert "line: 0 → 2" in text
    assert "copies &lt;script&gt;" in text
    assert "<script" not in text


def test_the_score_is_drawn_against_the_money_of_each_candidate(drawn: RunRecord) -> None:
    moments = [
        {"stage": "search", "candidate": one, "rollouts": 0, "tokens": 0, "usd": usd, "faults": {}}
        for one, usd in ((None, 0.0), (0, 0.25), (1, 0.5), (2, 0.75), (3, 1.0), (4, 1.5))
    ]
    assert money_figure(drawn) is None, "no call has a price"
    dump = drawn.model_dump()
    dump["invocation"]["moments"] = moments
    dump["usage"][0]["cost"] = 2.0
    figure = money_figure(RunRecord.model_validate(dump))
    assert figure is not None
    assert list(_trace(figure, "best so far").x) == [0.25, 0.5, 1.0, 1.5, 2.0]
    assert list(_trace(figure, "winner").x) == [1.0]
    assert list(_trace(figure, "not taken, no val score").x) == [0.75]
    assert figure.to_dict()["layout"]["xaxis"]["title"]["text"] == "US dollars spent"


def test_a_point_names_its_candidate_so_that_its_ancestors_can_be_shown(drawn: RunRecord) -> None:
    figure = front_figure(drawn)
    assert list(_trace(figure, "accepted").customdata) == [1, 4]
    line = _trace(figure, LINE)
    assert (list(line.x), line.meta) == ([], LINE)


def test_numbers_are_left_out_where_they_would_cover_each_other(drawn: RunRecord) -> None:
    many = [_candidate(number, 100 + number, 0.5) for number in range(60)]
    crowded = drawn.model_copy(update={"candidates": tuple(many), "winner": 3})
    figure = score_figure(crowded)
    assert _trace(figure, "accepted").text is None
    assert list(_trace(figure, "winner").text) == ["3"]


def test_a_run_with_the_seed_alone_can_be_drawn(noise: RunResult) -> None:
    record = record_of(noise, about())
    for figure in (score_figure(record), front_figure(record)):
        assert list(_trace(figure, "seed").text) == ["0"]


def test_the_same_run_gives_the_same_charts(record: RunRecord) -> None:
    assert front_figure(record).to_json() == front_figure(record).to_json()
