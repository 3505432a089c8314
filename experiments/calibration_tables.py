"""A judge's card on the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich.console import Console
from rich.table import Table

from ..agents.counted import counted
from ..rubrics.clustered_estimate import Estimate
from ..rubrics.comparison import Measure
from ..rubrics.judge_card import CriterionResult, Earned, JudgeCard
from ..rubrics.statistics import Conclusion
from .agreement_tables import told
from .brief import plain
from .calibration_card import headline
from .calibration_run import CalibrationRun
from .conclusion import signed

_MEASURES = {Measure.RAW: "raw", Measure.KAPPA: "kappa"}


def announce(run: CalibrationRun, console: Console) -> None:
    """Say what is calibrated, with what, and what the budget buys; nothing has been spent."""
    data, plan = run.data, run.plan
    parts = ", ".join(f"{len(part):,} {name}" for name, part in data.splits.named().items())
    _say(
        console,
        f"The judge {run.model.settings.model}, asked by {run.model.asking}, by the rubric "
        f"'{data.rubric.id}': {', '.join(data.criteria)}.",
        f"Annotated conversations: {parts} (seed {run.dealing.seed}).",
        *(f"Left out: {name}: {why}." for name, why in data.left_out.items()),
    )
    if data.unknown:
        _say(
            console,
            f"{counted(data.unknown, 'annotated conversation')} not among the trajectories.",
        )
    _say(
        console,
        f"{plan.total:,} judged conversations at most: the search {plan.search:,} "
        f"(about {plan.candidates:,} candidates), selection {plan.selection:,}, test "
        f"{plan.test:,}.",
        f"Journal and results: {run.folder}",
    )


def present(card: JudgeCard, console: Console) -> None:
    """Print a card."""
    _say(console, "", headline(card))
    for measure, name in _MEASURES.items():
        console.print(_table(card, measure, name))
    console.print(_kept_table(card))
    _say(console, *(note for each in card.criteria.values() for note in each.notes))
    _say(console, *(f"Left out: {name}: {why}." for name, why in card.data.left_out.items()))
    _say(console, *(f"Weak: {said}" for said in card.weak))
    cost = card.cost
    usd = "unknown" if cost.usd is None else f"${cost.usd:.5f}"
    _say(
        console,
        f"A verdict takes {cost.calls:.2g} calls, {cost.tokens:,.0f} tokens, {usd}.",
    )


def _table(card: JudgeCard, measure: Measure, name: str) -> Table:
    title = f"Agreement with people on the test: {name}"
    table = Table("", "n", title=title, title_justify="left")
    for column in ("before", "after", "people", "difference"):
        table.add_column(column)
    table.add_column("so")
    for each in card.criteria.values():
        earned = each.measures[measure]
        cells = _cells(earned, each.conclusion if measure is Measure.KAPPA else None)
        table.add_row(plain(each.criterion), f"{each.tested:,}", *cells)
    table.add_section()
    for domain in card.domains.values():
        cells = _cells(domain.measures[measure], domain.conclusion)
        table.add_row(plain(f"{domain.name} ({domain.weight:g} %)"), "", *cells)
    if card.overall is not None:
        cells = _cells(card.overall.measures[measure], card.overall.conclusion)
        table.add_row("overall", "", *cells, style="bold")
    return table


def _cells(earned: Earned, conclusion: Conclusion | None) -> tuple[str, ...]:
    people = "–" if earned.people is None else told(earned.people)
    so = "" if conclusion is None else str(conclusion).replace("_", " ")
    return (told(earned.before), told(earned.both), people, difference(earned.by_both), so)


def difference(estimate: Estimate) -> str:
    """Write a paired difference with its bounds."""
    if estimate.value is None:
        return "undefined"
    if estimate.low is None or estimate.high is None:
        return f"{signed(estimate.value)} (no interval)"
    return f"{signed(estimate.value)} ({signed(estimate.low)} to {signed(estimate.high)})"


def _kept_table(card: JudgeCard) -> Table:
    table = Table("criterion", title="What each part adds, in kappa", title_justify="left")
    for column in ("prompt", "threshold", "thresholds", "Brier before → after"):
        table.add_column(column)
    for name, each in card.criteria.items():
        kappa = each.measures[Measure.KAPPA]
        prompt, threshold = kept(each)
        table.add_row(
            plain(name),
            f"{difference(kappa.by_prompt)}, {prompt}",
            f"{difference(kappa.by_threshold)}, {threshold}",
            "" if each.decision is None else ", ".join(f"{cut:.3f}" for cut in each.decision.cuts),
            _brier(each),
        )
    return table


def kept(result: CriterionResult) -> tuple[str, str]:
    """Say whether the tuned prompt and the fitted thresholds were taken."""
    if result.prompt_gain is None:
        prompt = "no better prompt found"
    else:
        prompt = "taken" if result.took_prompt else "the old one stays: no better on val"
    if result.decision is None:
        return prompt, "no probabilities"
    return prompt, "taken" if result.took_threshold else "as it was: no better on val"


def _brier(result: CriterionResult) -> str:
    if result.brier_before is None or result.brier_after is None:
        return ""
    return f"{result.brier_before:.3f} → {result.brier_after:.3f}"


def _say(console: Console, *lines: str) -> None:
    for line in lines:
        console.print(plain(line), markup=False, highlight=False, soft_wrap=True)


def rows_of(card: JudgeCard) -> Iterator[tuple[str, Mapping[Measure, Earned], Conclusion | None]]:
    """Yield criteria, domains and all together, with their measures, for the page."""
    for each in card.criteria.values():
        yield each.name, each.measures, each.conclusion
    for domain in card.domains.values():
        yield f"{domain.name} ({domain.weight:g} %)", domain.measures, domain.conclusion
    if card.overall is not None:
        yield card.overall.name, card.overall.measures, card.overall.conclusion
