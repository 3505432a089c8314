"""Charts of a run, as plotly figures without colours of their own for text and background.

The page that shows them sets those, so that a chart is readable in light and in dark. Every point
of a candidate carries the candidate's number as `customdata`, by which the page finds its line of
ancestors; the trace that the line is drawn with is marked by `LINE`.
"""

from __future__ import annotations

import html
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate

import plotly.graph_objects as go

from ..optimizer.candidate import Status
from ..optimizer.front import pareto_front
from .conclusion import number
from .lineage import changed_agents, told_line
from .record_parts import CandidateRecord
from .run_record import RunRecord

COLORS = {
    "accepted": "#3b82f6",
    "rejected": "#9aa3b2",
    "seed": "#7c5cd6",
    "winner": "#12a150",
    "line": "#f59e0b",
}
LINE = "line of ancestors"
Scored = tuple[CandidateRecord, float]
"""A candidate with its mean score on val."""

_HOVER_WIDTH = 60
_MOST_REASON = 240
_MOST_LABELS = 40
"""Points in one chart above which their numbers would cover each other."""
_SIZE, _SMALL = 11, 7


def score_figure(record: RunRecord) -> go.Figure:
    """Draw the val score against the rollouts used.

    Candidates without a val score stand on the bottom line, where the budget they took shows.
    """
    used = {one.number: float(one.rollouts) for one in record.candidates}
    return _progress(record, used, float(record.rollouts), "rollouts used")


def money_figure(record: RunRecord) -> go.Figure | None:
    """Draw the val score against the money spent; None where nothing is known to have a price."""
    moments = record.invocation.moments
    spent = {one.candidate: one.usd for one in moments if one.candidate is not None}
    total = sum(one.cost for one in record.usage)
    if not total or not spent:
        return None
    return _progress(record, spent, total, "US dollars spent")


def front_figure(record: RunRecord) -> go.Figure:
    """Draw val score against prompt length, from parent to child, with the Pareto front.

    A candidate is on this front when none is both as short and as good, and better in one.
    """
    scored = scored_of(record)
    points = [(one, one.length, score) for one, score in scored]
    places = {one.number: (x, y) for one, x, y in points}
    figure = new_figure("length of the prompts, characters", "mean score on val")
    parents = [
        (places[one.parent], places[one.number]) for one, _ in scored if one.parent in places
    ]
    figure.add_scatter(
        x=[x for (x0, _), (x1, _) in parents for x in (x0, x1, None)],
        y=[y for (_, y0), (_, y1) in parents for y in (y0, y1, None)],
        mode="lines",
        line={"color": COLORS["rejected"], "width": 1, "dash": "dot"},
        name="parent to child",
        hoverinfo="skip",
    )
    front = sorted(_front(points))
    figure.add_scatter(
        x=[x for x, _ in front],
        y=[y for _, y in front],
        mode="lines+markers",
        line={"shape": "hv", "color": COLORS["line"], "width": 2},
        marker={"symbol": "circle-open", "size": 18, "line": {"width": 2}},
        name="Pareto front",
        hoverinfo="skip",
    )
    add_candidates(figure, record, points)
    add_line(figure)
    return figure


def scored_of(record: RunRecord) -> list[Scored]:
    """Return the candidates that were scored on val, with their scores."""
    return [(one, one.val_score) for one in record.candidates if one.val_score is not None]


def _progress(record: RunRecord, used: Mapping[int, float], end: float, axis: str) -> go.Figure:
    """Draw the val score against what was used when each candidate was decided."""
    scored = [(one, score) for one, score in scored_of(record) if one.number in used]
    best = list(accumulate((score for _, score in scored), max))
    figure = new_figure(axis, "mean score on val")
    figure.add_scatter(
        x=[*(used[one.number] for one, _ in scored), end],
        y=[*best, best[-1]] if best else [],
        mode="lines",
        line={"shape": "hv", "color": COLORS["line"], "width": 2},
        name="best so far",
        hoverinfo="skip",
    )
    add_candidates(figure, record, [(one, used[one.number], score) for one, score in scored])
    turned_down = [one for one in record.candidates if one.val_score is None and one.number in used]
    places = [(one, used[one.number], 0.0) for one in turned_down]
    add_turned_down(figure, record, places, "not taken, no val score")
    add_line(figure)
    return figure


def _front(points: Iterable[tuple[CandidateRecord, int, float]]) -> list[tuple[int, float]]:
    places = [(length, score) for _, length, score in points]
    on_front = pareto_front([{"brevity": -float(x), "score": y} for x, y in places])
    return [places[index] for index in on_front]


def add_candidates(
    figure: go.Figure, record: RunRecord, points: Sequence[tuple[CandidateRecord, float, float]]
) -> None:
    """Draw candidates at their places, by what became of them."""
    few = len(points) <= _MOST_LABELS
    for name in ("accepted", "seed", "winner"):
        group = [point for point in points if _group(point[0], record.winner) == name]
        if group:
            labelled = few or name != "accepted"
            figure.add_scatter(
                x=[x for _, x, _ in group],
                y=[y for _, _, y in group],
                mode="markers+text" if labelled else "markers",
                text=[str(one.number) for one, _, _ in group] if labelled else None,
                textposition="top center",
                marker={"size": _SIZE if labelled else _SMALL, "color": COLORS[name]},
                name=name,
                **_hover(record, [one for one, _, _ in group]),
            )


def add_turned_down(
    figure: go.Figure,
    record: RunRecord,
    points: Sequence[tuple[CandidateRecord, float, float]],
    name: str,
) -> None:
    """Draw candidates that were not scored on val, as crosses."""
    if not points:
        return
    few = len(points) <= _MOST_LABELS
    figure.add_scatter(
        x=[x for _, x, _ in points],
        y=[y for _, _, y in points],
        mode="markers",
        marker={
            "symbol": "x-thin",
            "size": 9 if few else 5,
            "line": {"width": 2 if few else 1, "color": COLORS["rejected"]},
        },
        name=name,
        **_hover(record, [one for one, _, _ in points]),
    )


def add_line(figure: go.Figure) -> None:
    """Add the trace in which the page shows the ancestors of the candidate pointed at."""
    figure.add_scatter(
        x=[],
        y=[],
        mode="lines+markers",
        line={"color": COLORS["winner"], "width": 3},
        marker={"size": 15, "symbol": "circle-open", "line": {"width": 3}},
        name=LINE,
        meta=LINE,
        showlegend=False,
        hoverinfo="skip",
    )


def _group(candidate: CandidateRecord, winner: int) -> str:
    if candidate.status is Status.SEED:
        return "seed"
    return "winner" if candidate.number == winner else "accepted"


def _hover(record: RunRecord, candidates: Sequence[CandidateRecord]) -> dict[str, object]:
    return {
        "hovertext": [describe(one, record) for one in candidates],
        "hoverinfo": "text",
        "customdata": [one.number for one in candidates],
    }


def describe(one: CandidateRecord, record: RunRecord) -> str:
    """Describe a candidate in plotly's markup; its reason may quote a model, so it is escaped."""
    agents = ", ".join(changed_agents(record, one))
    reason = textwrap.shorten(one.reason, _MOST_REASON, placeholder=" …")
    lines = [
        f"<b>candidate {one.number}</b> ({one.status})",
        f"val {number(one.val_score)}, {one.length:,} characters, {one.rollouts:,} rollouts used",
        *(textwrap.wrap(f"line: {told_line(record, one.number)}", _HOVER_WIDTH)),
        *(
            html.escape(line)
            for line in textwrap.wrap(f"changes: {agents}", _HOVER_WIDTH)
            if agents
        ),
        *(html.escape(line) for line in textwrap.wrap(reason, _HOVER_WIDTH)),
    ]
    return "<br>".join(lines)


def new_figure(x: str, y: str) -> go.Figure:
    """Return an empty chart with its axes named."""
    figure = go.Figure()
    figure.update_layout(
        template="none",
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"family": "system-ui, sans-serif", "size": 13},
        margin={"l": 60, "r": 20, "t": 20, "b": 50},
        height=380,
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        hoverlabel={"align": "left"},
    )
    figure.update_xaxes(title=x, zeroline=False)
    figure.update_yaxes(title=y, zeroline=False, range=[-0.04, 1.08])
    return figure
