"""Charts of the Pareto front: which candidate wins where, and who comes from whom."""

from __future__ import annotations

import html
import json
from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import plotly.graph_objects as go

from ..agents.counted import counted
from ..optimizer.front import pareto_front
from .charts import (
    COLORS,
    Scored,
    add_candidates,
    add_line,
    add_turned_down,
    front_figure,
    new_figure,
    scored_of,
)
from .record_parts import CandidateRecord
from .run_record import RunRecord

_SCALE = [[0.0, "#b3261e"], [0.5, "#f2d9a6"], [1.0, "#12a150"]]
_ROW = 24
_MOST_ROWS = 40
_MOST_GENERATIONS = 8
"""Named on an axis."""
_MOST_COLUMNS = 100


def scenario_figure(record: RunRecord) -> go.Figure:
    """Draw the scores of candidates on val examples; the best of each example has a mark.

    The examples stand from the hardest to the easiest. Of many candidates those are shown that
    are best on most examples, and of many examples the hardest; see `left_out`.
    """
    every = [one for one, _ in scored_of(record)]
    scored, names = _rows(record), _columns(every)
    best = {
        name: max((one.val[name] or 0.0 for one in every if name in one.val), default=0.0)
        for name in names
    }
    rows = [f"candidate {one.number}" for one in scored]
    figure = new_figure("val example", "")
    figure.add_heatmap(
        x=names,
        y=rows,
        z=[[one.val.get(name) for name in names] for one in scored],
        text=[["●" if one.val.get(name) == best[name] else "" for name in names] for one in scored],
        texttemplate="%{text}",
        colorscale=_SCALE,
        zmin=0,
        zmax=1,
        hovertemplate="%{y}, %{x}: %{z:.3f}<extra></extra>",
    )
    figure.update_xaxes(showticklabels=False)
    figure.update_yaxes(range=None, autorange="reversed", type="category")
    figure.update_layout(height=160 + _ROW * len(rows))
    return figure


def left_out(record: RunRecord) -> str:
    """Say what `scenario_figure` does not show; empty when it shows everything."""
    every = [one for one, _ in scored_of(record)]
    rows = len(every) - len(_rows(record))
    columns = len({name for one in every for name in one.val}) - len(_columns(every))
    parts = [
        f"{counted(rows, 'candidate')} that are best on few examples" if rows else "",
        f"the {counted(columns, 'easiest example', 'easiest examples')}" if columns else "",
    ]
    return " and ".join(filter(None, parts))


def _rows(record: RunRecord) -> list[CandidateRecord]:
    """Return the scored candidates to show, seed and winner among them, by their numbers."""
    kept = (0, record.winner)
    scored = sorted(
        (one for one, _ in scored_of(record)),
        key=lambda one: (one.number not in kept, -one.wins, one.number),
    )
    return sorted(scored[:_MOST_ROWS], key=lambda one: one.number)


def _columns(scored: Sequence[CandidateRecord]) -> list[str]:
    """Return the val examples to show, from the hardest to the easiest."""
    totals: defaultdict[str, float] = defaultdict(float)
    for one in scored:
        for name, value in one.val.items():
            totals[name] += value or 0.0
    return sorted(totals, key=lambda name: (totals[name], name))[:_MOST_COLUMNS]


def pair_figure(record: RunRecord) -> go.Figure | None:
    """Draw each pair of domains against one another, one at a time; None with one domain.

    On the line are the candidates that no other beats in both.
    """
    titles = record.objective_titles
    scored = scored_of(record)
    names = sorted({name for one, _ in scored for name in one.objectives})
    pairs = list(combinations(names, 2))
    if not pairs:
        return None
    figure, owners = new_figure("", ""), []
    for number, pair in enumerate(pairs):
        traces = _pair_traces(record, scored, pair)
        owners += [number] * len(traces)
        figure.add_traces([{**trace, "visible": number == 0} for trace in traces])
    buttons = [
        {
            "method": "update",
            "label": " / ".join(titles.get(name, name) for name in pair),
            "args": [
                {"visible": [owner == number for owner in owners]},
                {
                    "xaxis.title.text": titles.get(pair[0], pair[0]),
                    "yaxis.title.text": titles.get(pair[1], pair[1]),
                },
            ],
        }
        for number, pair in enumerate(pairs)
    ]
    x, y = (titles.get(name, name) for name in pairs[0])
    figure.update_xaxes(title=x, range=[-0.04, 1.08])
    figure.update_yaxes(title=y)
    menu = {"buttons": buttons, "x": 1, "xanchor": "right", "y": 1.2, "yanchor": "top"}
    figure.update_layout(updatemenus=[menu], height=440)
    return figure


def lineage_figure(record: RunRecord) -> go.Figure:
    """Draw the candidates from parent to child; to the right the rollouts used."""
    depth: dict[int, int] = {}
    for one in record.candidates:
        depth[one.number] = 0 if one.parent is None else depth[one.parent] + 1
    places = {one.number: (one.rollouts, depth[one.number]) for one in record.candidates}
    figure = new_figure("rollouts used", "generation")
    lines = [(places[one.parent], places[one.number]) for one in record.candidates
             if one.parent is not None]  # fmt: skip
    figure.add_scatter(
        x=[x for (x0, _), (x1, _) in lines for x in (x0, x1, None)],
        y=[y for (_, y0), (_, y1) in lines for y in (y0, y1, None)],
        mode="lines",
        line={"color": COLORS["rejected"], "width": 1},
        name="parent to child",
        hoverinfo="skip",
    )
    add_candidates(figure, record, [(one, *places[one.number]) for one, _ in scored_of(record)])
    others = [(one, *places[one.number]) for one in record.candidates if one.val_score is None]
    add_turned_down(figure, record, others, "not taken")
    add_line(figure)
    figure.update_yaxes(range=None, dtick=max(1, max(depth.values()) // _MOST_GENERATIONS))
    return figure


def front_page(record: RunRecord) -> str:
    """Return a page with all pictures of the front, complete in itself."""
    figures = {
        "Score against length of the prompts": front_figure(record),
        "Score on each val example": scenario_figure(record),
        "Domains against one another": pair_figure(record),
        "Lineage": lineage_figure(record),
    }
    parts = [
        f"<h2>{html.escape(title)}</h2>"
        + figure.to_html(full_html=False, include_plotlyjs=number == 0, div_id=f"front-{number}")
        for number, (title, figure) in enumerate(figures.items())
        if figure is not None
    ]
    head = f"<!doctype html><meta charset='utf-8'><title>{html.escape(record.name)}</title>"
    style = "<style>body{font-family:system-ui,sans-serif;margin:2rem auto;max-width:64rem}</style>"
    return f"{head}{style}{''.join(parts)}"


def _pair_traces(
    record: RunRecord, scored: Sequence[Scored], pair: tuple[str, str]
) -> list[dict[str, Any]]:
    """Return the traces of one pair, as plain values."""
    points = [
        (one, one.objectives[pair[0]], one.objectives[pair[1]])
        for one, _ in scored
        if pair[0] in one.objectives and pair[1] in one.objectives
    ]
    places = [{"x": x, "y": y} for _, x, y in points]
    front = sorted((places[index]["x"], places[index]["y"]) for index in pareto_front(places))
    figure = new_figure("", "")
    figure.add_scatter(
        x=[x for x, _ in front],
        y=[y for _, y in front],
        mode="lines",
        line={"color": COLORS["line"], "width": 2},
        name="Pareto front",
        hoverinfo="skip",
    )
    add_candidates(figure, record, points)
    return json.loads(figure.to_json() or "{}")["data"]
