"""Charts of a run, as plotly figures without colours of their own for text and background.

The page that shows them sets those, so that a chart is readable in light and in dark.
"""

from __future__ import annotations

import html
import textwrap
from collections.abc import Iterable, Sequence
from itertools import accumulate

import plotly.graph_objects as go

from ..optimizer.candidate import Status
from ..optimizer.front import pareto_front
from .conclusion import number
from .record_parts import CandidateRecord
from .run_record import RunRecord

COLORS = {
    "accepted": "#3b82f6",
    "rejected": "#9aa3b2",
    "seed": "#7c5cd6",
    "winner": "#12a150",
    "line": "#f59e0b",
}
Scored = tuple[CandidateRecord, float]
"""A candidate with its mean score on val."""

_HOVER_WIDTH = 60


def score_figure(record: RunRecord) -> go.Figure:
    """Draw the val score against the rollouts used.

    Candidates without a val score stand on the bottom line, where the budget they took shows.
    """
    scored = scored_of(record)
    best = list(accumulate((score for _, score in scored), max))
    figure = new_figure("rollouts used", "mean score on val")
    figure.add_scatter(
        x=[*(one.rollouts for one, _ in scored), record.rollouts],
        y=[*best, best[-1]] if best else [],
        mode="lines",
        line={"shape": "hv", "color": COLORS["line"], "width": 2},
        name="best so far",
        hoverinfo="skip",
    )
    add_candidates(figure, record, [(one, one.rollouts, score) for one, score in scored])
    turned_down = [one for one in record.candidates if one.val_score is None]
    if turned_down:
        figure.add_scatter(
            x=[one.rollouts for one in turned_down],
            y=[0.0] * len(turned_down),
            mode="markers",
            marker={
                "symbol": "x-thin",
                "size": 9,
                "line": {"width": 2, "color": COLORS["rejected"]},
            },
            name="not taken, no val score",
            **_hover(turned_down),
        )
    return figure


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
    return figure


def scored_of(record: RunRecord) -> list[Scored]:
    """Return the candidates that were scored on val, with their scores."""
    return [(one, one.val_score) for one in record.candidates if one.val_score is not None]


def _front(points: Iterable[tuple[CandidateRecord, int, float]]) -> list[tuple[int, float]]:
    places = [(length, score) for _, length, score in points]
    on_front = pareto_front([{"brevity": -float(x), "score": y} for x, y in places])
    return [places[index] for index in on_front]


def add_candidates(
    figure: go.Figure, record: RunRecord, points: Sequence[tuple[CandidateRecord, float, float]]
) -> None:
    """Draw candidates at their places, by what became of them."""
    for name in ("seed", "accepted", "winner"):
        group = [point for point in points if _group(point[0], record.winner) == name]
        if group:
            figure.add_scatter(
                x=[x for _, x, _ in group],
                y=[y for _, _, y in group],
                mode="markers+text",
                text=[str(one.number) for one, _, _ in group],
                textposition="top center",
                marker={"size": 11, "color": COLORS[name]},
                name=name,
                **_hover([one for one, _, _ in group]),
            )


def _group(candidate: CandidateRecord, winner: int) -> str:
    if candidate.status is Status.SEED:
        return "seed"
    return "winner" if candidate.number == winner else "accepted"


def _hover(candidates: Iterable[CandidateRecord]) -> dict[str, object]:
    return {"hovertext": [describe(one) for one in candidates], "hoverinfo": "text"}


def describe(one: CandidateRecord) -> str:
    """Describe a candidate in plotly's markup; its reason may quote a model, so it is escaped."""
    parent = "" if one.parent is None else f", from {one.parent}"
    reason = textwrap.wrap(one.reason, _HOVER_WIDTH)
    lines = [
        f"<b>candidate {one.number}</b> ({one.status}{parent})",
        f"val {number(one.val_score)}, {one.length:,} characters, {one.rollouts} rollouts used",
        *(html.escape(line) for line in reason),
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
