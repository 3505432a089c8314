"""A calibration from start to end: run, and its card, page and prompts written into its folder."""

from __future__ import annotations

from ..agents.ledger import Ledger
from ..optimizer.observer import Observer
from ..rubrics.judge_card import JudgeCard
from .calibration_card import card_of
from .calibration_page import render_card
from .calibration_run import CalibrationRun

CARD, PAGE, PROMPTS = "judge-card.json", "judge-card.html", "prompts"


def calibrate(run: CalibrationRun, ledger: Ledger, observer: Observer) -> JudgeCard:
    """Calibrate, or go on with it, and write down what came of it.

    Args:
        run: What is checked and ready.
        ledger: Where its calls are counted.
        observer: Who is told what happens.

    Raises:
        CotuneError: A model cannot be used, the run paused, or the budget does not suffice.
    """
    with run.journal() as journal:
        calibrated = run.execute(journal, ledger, observer)
        card = card_of(run, calibrated, ledger)
    card.save(run.folder / CARD)
    card.bundle.save(run.folder / PROMPTS)
    (run.folder / PAGE).write_text(render_card(card, calibrated.judge.prompts), encoding="utf-8")
    return card
