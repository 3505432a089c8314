"""The charts of the report as data: what the page's own script draws."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import plotly.graph_objects as go

from .charts import LINE, front_figure, money_figure, score_figure
from .front_charts import lineage_figure, pair_figure, scenario_figure
from .run_record import RunRecord


def figures_of(record: RunRecord) -> dict[str, Any]:
    """Return what is to be drawn.

    Returns:
        `charts` by the id of their place, `texts` that their points show when pointed at (a
        candidate stands in several charts, its text once, and points name it by its index),
        `parents` of the candidates by number, and the name of the trace for a `line` of them.
    """
    charts = {name: json.loads(each.to_json() or "{}") for name, each in _figures(record)}
    parents = [one.parent for one in record.candidates]
    return {"charts": charts, "texts": _interned(charts), "parents": parents, "line": LINE}


def _figures(record: RunRecord) -> Iterator[tuple[str, go.Figure]]:
    yield "front", front_figure(record)
    yield "scores", score_figure(record)
    if (money := money_figure(record)) is not None:
        yield "money", money
    if record.kind != "system":
        return
    yield "scenarios", scenario_figure(record)
    yield "lineage", lineage_figure(record)
    if (pairs := pair_figure(record)) is not None:
        yield "pairs", pairs


def _interned(charts: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Replace the texts of points by their indices, in place, and return the texts."""
    texts: dict[str, int] = {}
    for chart in charts.values():
        for trace in chart["data"]:
            if "hovertext" in trace:
                trace["hovertext"] = [
                    texts.setdefault(text, len(texts)) for text in trace["hovertext"]
                ]
    return list(texts)
