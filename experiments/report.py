"""The report of a run: one HTML page that needs nothing else, and no network.

Everything that came from a model or a data file is escaped. A content security policy stands
behind that: it allows the page's own two scripts by their hashes and nothing from elsewhere.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from ..optimizer.held_out import Comparison
from ..rubrics.statistics import Interval
from .charts import front_figure, score_figure
from .conclusion import bounds, headline, number, reading, sentence, signed
from .contrast import Contrast
from .record_parts import CriterionRecord
from .run_record import RunRecord, config_yaml

FILE_NAME = "report.html"
_DIFF_CLASSES = {"+": "added", "-": "removed", "@": "place"}


@dataclass(frozen=True, slots=True)
class Bar:
    """An interval as a bar in a cell whose middle is 0; all in percent of the cell's width."""

    left: float
    width: float
    mean: float


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the held-out table."""

    name: str
    critical: bool
    comparison: Comparison
    bar: Bar


def render_report(record: RunRecord, contrasts: Sequence[Contrast] = ()) -> str:
    """Return the page; the same record gives the same page.

    Args:
        record: The run.
        contrasts: The conversations of its test that changed most.
    """
    environment = Environment(
        loader=PackageLoader(__package__ or "", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "number": number,
        "signed": signed,
        "bounds": bounds,
        "source_hash": _source_hash,
    }
    return environment.get_template("report.html.j2").render(
        run=record,
        headline=headline(record.conclusion),
        sentence=sentence(record),
        reading=reading(record),
        rows=_held_out_rows(record),
        unjudged=[one for one in record.criteria if one.needs_judge],
        unmet=_unmet(record),
        usage=record.usage,
        unpriced=sum(one.unpriced for one in record.usage),
        diff=list(_diff_lines(record.diff)),
        figures={"scores": _plain(score_figure(record)), "front": _plain(front_figure(record))},
        config=config_yaml(record.config),
        plotly=Markup(get_plotlyjs()),  # noqa: S704  (the library's own source)
    )


def save_report(page: str, folder: Path) -> Path:
    """Write `report.html` into the run's folder and return its path."""
    path = folder / FILE_NAME
    path.write_text(page, encoding="utf-8")
    return path


def _held_out_rows(record: RunRecord) -> list[Row]:
    """Return the overall comparison and those per criterion, in the rubric's order."""
    if record.held_out is None:
        return []
    compared = record.held_out.objectives
    named = [
        ("Overall", False, record.held_out.overall),
        *(
            (one.name, one.critical, compared[one.id])
            for one in record.criteria
            if one.id in compared
        ),
    ]
    reach = max(_reach(comparison.difference) for _, _, comparison in named) or 1.0
    return [
        Row(title, critical, comparison, _bar(comparison.difference, reach))
        for title, critical, comparison in named
    ]


def _reach(difference: Interval) -> float:
    ends = (difference.mean, difference.low, difference.high)
    return max(abs(end) for end in ends if end is not None)


def _bar(difference: Interval, reach: float) -> Bar:
    def place(value: float) -> float:
        return round(50 + 48 * value / reach, 2)

    low = difference.mean if difference.low is None else difference.low
    high = difference.mean if difference.high is None else difference.high
    return Bar(place(low), round(place(high) - place(low), 2), place(difference.mean))


def _unmet(record: RunRecord) -> list[CriterionRecord]:
    """Return the criteria with a check that applied to no test example."""
    if record.held_out is None:
        return []
    return [
        one
        for one in record.criteria
        if not one.needs_judge and one.id not in record.held_out.objectives
    ]


def _diff_lines(diff: str) -> Iterator[tuple[str, str]]:
    """Yield (class, line) of a unified diff."""
    for line in diff.splitlines():
        is_head = line.startswith(("--- ", "+++ "))
        yield ("head" if is_head else _DIFF_CLASSES.get(line[:1], "same")), line


def _plain(figure: go.Figure) -> dict[str, Any]:
    return json.loads(figure.to_json() or "{}")


def _source_hash(script: str) -> str:
    """Return the script's hash as a content security policy names it."""
    digest = hashlib.sha256(str(script).encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
