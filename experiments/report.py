"""The report of a run: one HTML page that needs nothing else, and no network.

Everything that came from a model or a data file is escaped. A content security policy stands
behind that: it allows the page's own two scripts by their hashes and nothing from elsewhere.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup
from plotly.offline import get_plotlyjs

from .charts import front_figure, score_figure
from .conclusion import bounds, headline, joint_sentence, number, reading, sentence, signed
from .contrast import Contrast
from .front_charts import lineage_figure, pair_figure, scenario_figure
from .page import page_template
from .report_rows import held_out_rows
from .run_record import RunRecord, config_yaml
from .shown_contrast import shown

FILE_NAME = "report.html"
_DIFF_CLASSES = {"+": "added", "-": "removed", "@": "place"}


def render_report(record: RunRecord, contrasts: Sequence[Contrast] = ()) -> str:
    """Return the page; the same record gives the same page.

    Args:
        record: The run.
        contrasts: The conversations of its test that changed most.
    """
    page = page_template(
        "report.html.j2", number=number, signed=signed, bounds=bounds, source_hash=_source_hash
    )
    return page.render(
        run=record,
        headline=headline(record.conclusion),
        sentence=sentence(record),
        joint=joint_sentence(record),
        reading=reading(record),
        rows=held_out_rows(record),
        unjudged=_unjudged(record),
        unmet=_unmet(record),
        contrasts=[shown(contrast, record) for contrast in contrasts],
        usage=record.usage,
        unpriced=sum(one.unpriced for one in record.usage),
        diffs=_diffs(record),
        figures=_figures(record),
        config=config_yaml(record.config),
        plotly=Markup(get_plotlyjs()),  # noqa: S704  (the library's own source)
    )


def save_report(page: str, folder: Path) -> Path:
    """Write `report.html` into the run's folder and return its path."""
    path = folder / FILE_NAME
    path.write_text(page, encoding="utf-8")
    return path


def _figures(record: RunRecord) -> dict[str, Any]:
    """Return the charts of a run by the id of their place."""
    figures = {"scores": score_figure(record), "front": front_figure(record)}
    if record.kind == "system":
        figures["scenarios"] = scenario_figure(record)
        figures["lineage"] = lineage_figure(record)
        pairs = pair_figure(record)
        if pairs is not None:
            figures["pairs"] = pairs
    return {name: json.loads(figure.to_json() or "{}") for name, figure in figures.items()}


def _unjudged(record: RunRecord) -> list[str]:
    """Return the criteria that only a judge could have decided, where there was none."""
    if record.judged_by is not None:
        return []
    return [one.name for one in record.criteria if one.needs_judge]


def _unmet(record: RunRecord) -> list[str]:
    """Return the objectives that applied to no test example, though they could have."""
    if record.held_out is None:
        return []
    judged = {one.id for one in record.criteria if one.needs_judge}
    return [
        title
        for name, title in record.objective_titles.items()
        if name not in judged and name not in record.held_out.objectives
    ]


def _diffs(record: RunRecord) -> dict[str, list[tuple[str, str]]]:
    """Return the lines of each changed prompt's diff, by agent."""
    before, after = record.seed.bundle, record.chosen.bundle
    diffs = {agent: before.only(agent).diff(after.only(agent)) for agent in after}
    return {agent: list(_diff_lines(diff)) for agent, diff in diffs.items() if diff}


def _diff_lines(diff: str) -> Iterator[tuple[str, str]]:
    """Yield (class, line) of a unified diff."""
    for line in diff.splitlines():
        is_head = line.startswith(("--- ", "+++ "))
        yield ("head" if is_head else _DIFF_CLASSES.get(line[:1], "same")), line


def _source_hash(script: str) -> str:
    """Return the script's hash as a content security policy names it."""
    digest = hashlib.sha256(str(script).encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
