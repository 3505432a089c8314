"""A judge's card as a page: one HTML file without scripts that needs nothing else."""

from __future__ import annotations

from ..agents.prompts import PromptBundle
from ..rubrics.comparison import Measure
from ..rubrics.judge_card import JudgeCard
from .agreement_tables import told
from .calibration_card import headline
from .calibration_tables import difference, kept, rows_of
from .page import page_template

_MEASURES = {Measure.RAW: "Raw agreement", Measure.KAPPA: "Kappa: agreement beyond chance"}


def render_card(card: JudgeCard, seed: PromptBundle) -> str:
    """Return the page; all that a model or a person wrote is escaped.

    Args:
        card: The card.
        seed: The prompts before calibration.
    """
    page = page_template("judge_card.html.j2", told=told, difference=difference)
    return page.render(
        card=card,
        headline=headline(card),
        measures=_MEASURES,
        rows=list(rows_of(card)),
        kept={name: kept(each) for name, each in card.criteria.items()},
        diff=seed.diff(card.bundle),
    )
