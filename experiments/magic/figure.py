"""The figure: held-out score against rollouts, a panel for each node, with overfit marked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from .arms import WHOLE, Arm
from .curves import CurvePoint, chosen_by_val, overfits
from .record import MagicRecord, NodeRecord
from .tables import points_gained

_COLUMNS = 3
_PANEL = 240  # pixels
_BEST, _SHIPPED, _VAL, _OVERFIT, _WINNER, _INK = (
    "#f59e0b",
    "#3b82f6",
    "#9aa3b2",
    "#d93025",
    "#12a150",
    "#7f8896",
)


def held_out_figure(record: MagicRecord) -> go.Figure:
    """Draw a panel per node.

    The agents of arm (d) are left out: with half the budget they take the first part of the way
    that they take in arm (b).
    """
    nodes = [one for one in record.nodes if one.node == WHOLE or one.arm is Arm.ALONE]
    rows = -(-len(nodes) // _COLUMNS)
    figure = make_subplots(rows, _COLUMNS, subplot_titles=[_title(node) for node in nodes])
    for index, node in enumerate(nodes):
        place = {"row": index // _COLUMNS + 1, "col": index % _COLUMNS + 1}
        _draw(figure, node, place, legend=index == 0)
    figure.update_layout(
        template="none",
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"family": "system-ui, sans-serif", "size": 12, "color": _INK},
        margin={"l": 50, "r": 20, "t": 80, "b": 50},
        height=_PANEL * rows + 100,
        legend={"orientation": "h", "y": 1 + 60 / (_PANEL * rows), "yanchor": "bottom", "x": 0},
    )
    figure.update_xaxes(zeroline=False, gridcolor="rgba(127,136,150,0.25)", rangemode="tozero")
    figure.update_yaxes(
        zeroline=False, gridcolor="rgba(127,136,150,0.25)", range=[_lowest(nodes) - 0.03, 1.02]
    )
    figure.update_xaxes(title="rollouts", row=rows)
    figure.update_yaxes(title="score", col=1)
    return figure


def _lowest(nodes: Iterable[NodeRecord]) -> float:
    """Return the lowest score shown, so that all panels have one scale."""
    shown = (score for node in nodes for one in node.curve for score in (one.val, one.held_out))
    return min(shown, default=0.0)


def _title(node: NodeRecord) -> str:
    name = f"({node.arm}) {node.node}"
    if not node.curve:
        return f"{name} · nothing tested"
    return name if node.overfit is None else f"{name} · overfit {points_gained(node.overfit)}"


def _draw(figure: go.Figure, node: NodeRecord, place: Mapping[str, int], *, legend: bool) -> None:
    points = node.curve
    shipped = chosen_by_val(points)
    end = max([node.spent, *(point.rollouts for point in points)])
    lines = (
        ("best held-out so far (chosen by it: too kind)", _BEST, "dot", _best_held_out(points)),
        ("held-out of the best by val", _SHIPPED, "solid", [(p, p.held_out) for p in shipped]),
        ("best by val, on val", _VAL, "dash", [(p, p.val) for p in shipped]),
    )
    for name, color, dash, steps in lines:
        figure.add_scatter(
            x=[*(point.rollouts for point, _ in steps), *([end] if steps else [])],
            y=[*(value for _, value in steps), *([steps[-1][1]] if steps else [])],
            mode="lines",
            line={"shape": "hv", "color": color, "dash": dash, "width": 2},
            name=name,
            legendgroup=name,
            showlegend=legend,
            hoverinfo="skip",
            **place,
        )
    chosen = [point for point in points if point.candidate == node.winner]
    for name, color, symbol, size, marked in (
        ("candidate on held-out", _SHIPPED, "circle", 6, points),
        ("winner", _WINNER, "circle-open", 13, chosen),
        ("overfit: best by val, worse than the start", _OVERFIT, "x", 10, overfits(points)),
    ):
        marker = {"size": size, "color": color, "symbol": symbol, "line": {"width": 2}}
        _mark(figure, place, marked, marker, name, legend=legend)


def _mark(
    figure: go.Figure,
    place: Mapping[str, int],
    points: Sequence[CurvePoint],
    marker: Mapping[str, object],
    name: str,
    *,
    legend: bool,
) -> None:
    figure.add_scatter(
        x=[point.rollouts for point in points] or [None],  # so that it is in the legend
        y=[point.held_out for point in points] or [None],
        mode="markers",
        marker=dict(marker),
        name=name,
        legendgroup=name,
        showlegend=legend,
        hovertext=[_said(point) for point in points],
        hoverinfo="text",
        **place,
    )


def _best_held_out(points: Sequence[CurvePoint]) -> list[tuple[CurvePoint, float]]:
    found: list[tuple[CurvePoint, float]] = []
    for point in points:
        if not found or point.held_out > found[-1][1]:
            found.append((point, point.held_out))
    return found


def _said(point: CurvePoint) -> str:
    return (
        f"candidate {point.candidate}<br>held-out {point.held_out:.3f}, val {point.val:.3f}"
        f"<br>{point.rollouts} rollouts used"
    )
