"""The page of a comparison: tables and figure in one HTML file that needs nothing else."""

from __future__ import annotations

from pathlib import Path

from markupsafe import Markup

from ..page import page_template
from .figure import held_out_figure
from .record import MagicRecord
from .tables import differences_table, nodes_table, published_table, safety, scores_table

FILE_NAME = "magic.html"


def render_page(record: MagicRecord) -> str:
    """Return the page; the same record gives the same page."""
    figure = held_out_figure(record).to_html(
        full_html=False, include_plotlyjs=True, div_id="held-out", config={"displayModeBar": False}
    )
    return page_template("magic.html.j2").render(
        run=record,
        scores=scores_table(record),
        differences=differences_table(record),
        nodes=nodes_table(record),
        published=published_table(record),
        safety=list(safety(record)),
        figure=Markup(figure),  # noqa: S704  (plotly's own, which escapes what it quotes)
    )


def save_page(page: str, folder: Path) -> Path:
    """Write it into a folder and return its path."""
    path = folder / FILE_NAME
    path.write_text(page, encoding="utf-8")
    return path
