"""Drift on the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from ..rubrics.statistics import Conclusion
from .agreement_tables import told
from .brief import plain
from .calibration_tables import difference
from .drift import Drift, drifted

_WORDS = {
    Conclusion.WORSE: "fallen",
    Conclusion.IMPROVED: "risen",
    Conclusion.NO_EVIDENCE: "no evidence of a change",
    None: "undefined",
}


def present_drift(found: Sequence[Drift], console: Console) -> None:
    """Print what became of each criterion's agreement."""
    table = Table("criterion", title="Kappa on the card and on the new labels")
    for column in ("new items", "card", "now", "now − card", "agreement has"):
        table.add_column(column)
    for each in found:
        cells = (told(each.card), told(each.now), difference(each.difference))
        table.add_row(plain(each.criterion), f"{each.now.n:,}", *cells, _WORDS[each.conclusion])
    console.print(table)
    if not found:
        console.print("None of the card's criteria is annotated.")
    elif drifted(found):
        console.print("Calibrate the judge again before it is relied on.")
    else:
        console.print("Nothing shows that the judge agrees less than its card says.")
