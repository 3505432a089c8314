"""The report of a run: one HTML page that needs nothing else, and no network.

Everything that came from a model or a data file is escaped. A content security policy stands
behind that: it allows the page's own two scripts by their hashes and nothing from elsewhere.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from pathlib import Path

from markupsafe import Markup
from plotly.offline import get_plotlyjs

from ..agents.errors import CotuneError
from .agreement_tables import told
from .calibration_card import headline as card_headline
from .conclusion import bounds, headline, joint_sentence, number, reading, sentence, signed
from .contrast import Contrast
from .front_charts import left_out
from .lineage import changed_agents, told_line
from .page import page_template
from .prompt_history import prompt_changes
from .report_figures import figures_of
from .report_rows import candidate_rows, held_out_rows, role_costs
from .run_record import RunRecord, config_yaml
from .shown_contrast import shown_contrasts

FILE_NAME = "report.html"


def render_report(record: RunRecord, contrasts: Sequence[Contrast] = ()) -> str:
    """Return the page; the same record gives the same page.

    Args:
        record: The run.
        contrasts: The conversations of its test that changed most.
    """
    page = page_template(
        "report.html.j2",
        number=number,
        signed=signed,
        bounds=bounds,
        told=told,
        source_hash=_source_hash,
    )
    shown = shown_contrasts(contrasts, record)
    text = page.render(
        run=record,
        headline=headline(record.conclusion),
        sentence=sentence(record),
        joint=joint_sentence(record),
        reading=reading(record),
        groups=held_out_rows(record),
        unjudged=_unjudged(record),
        unmet=_unmet(record),
        changes=prompt_changes(record),
        winner_line=told_line(record, record.winner),
        contrasts=shown,
        more_contrasts=len(contrasts) - len(shown),
        card_headline=card_headline(record.card) if record.card else "",
        candidates=candidate_rows(record),
        changed_by={one.number: changed_agents(record, one) for one in record.candidates},
        left_out_of_heatmap=left_out(record),
        figures=figures_of(record),
        roles=role_costs(record),
        unpriced=sum(one.unpriced for one in record.usage),
        config=config_yaml(record.config),
        plotly=Markup(get_plotlyjs()),  # noqa: S704  (the library's own source)
    )
    return text.encode(errors="replace").decode()  # half an emoji cannot be written


def save_report(page: str, folder: Path) -> Path:
    """Write `report.html` into the run's folder and return its path."""
    return write_page(page, folder / FILE_NAME)


def write_page(page: str, path: Path) -> Path:
    """Write a page and return its path.

    Raises:
        CotuneError: It cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page, encoding="utf-8")
    except OSError as error:
        raise CotuneError(f"The page {path} cannot be written ({error.strerror}).") from error
    return path


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


def _source_hash(script: str) -> str:
    """Return the script's hash as a content security policy names it."""
    digest = hashlib.sha256(str(script).encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
