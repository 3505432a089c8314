"""Agreement as tables on the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.table import Table

from ..agents.counted import counted
from ..rubrics.clustered_estimate import UNDEFINED, Estimate
from ..rubrics.comparison import Comparison, Measure
from ..rubrics.weighted_agreement import WeightedAgreement
from .agreement_run import AgreementReport
from .agreement_words import of_judge, of_people, value_name
from .brief import plain
from .conclusion import number

_NOTHING = "–"
_PAIRS = 15
_MEASURES = {
    Measure.RAW: "raw",
    Measure.KAPPA: "kappa",
    Measure.AC1: "AC1",
    Measure.BALANCED: "balanced",
    Measure.FAILURE_RECALL: "failures found",
    Measure.FAILURE_PRECISION: "failures right",
}


def present(report: AgreementReport, console: Console) -> None:
    """Print a report, people first."""
    _say(console, *_about(report))
    console.print(_people_table(report))
    if any(each.pairs for each in report.people.values()):
        console.print(_pairs_table(report))
    _say(console, *(said for name, each in report.people.items() for said in of_people(name, each)))
    if not report.judge:
        return
    who = ", ".join(f"{name} {value}" for name, value in report.by.items())
    _say(console, "", f"The judge: {who or 'unknown'}.")
    if report.rubric_changed:
        _say(console, "The rubric, or a check of it, has changed since these verdicts were made.")
    console.print(_judge_table(report))
    _say(console, *(said for name, each in report.judge.items() for said in of_judge(name, each)))
    for name, each in report.judge.items():
        if each.comparison.n:
            console.print(_confusion_table(name, each.comparison))
    if _has_probabilities(report):
        console.print(_reliability_table(report))
    if report.judge_weighted is not None:
        console.print(_weighted_table(report))


def _about(report: AgreementReport) -> Iterator[str]:
    conversations = {label.item.conversation for label in report.labels}
    yield (
        f"{counted(len(report.labels), 'item')} in {counted(len(conversations), 'conversation')}. "
        f"Intervals of {report.confidence:.0%} over conversations."
    )
    if report.repeated:
        yield (
            f"Left out, as the same person decided about the same before: {report.repeated:,} "
            "annotations."
        )
    if report.rulings_repeated:
        yield (
            f"Conversations that were judged more than once: {report.rulings_repeated:,} rulings "
            "beyond the first are left out."
        )
    ties = sum(len(label.options) > 1 for label in report.labels)
    if ties:
        yield (
            f"People are split evenly on {counted(ties, 'item')}: these stay in, and each of the "
            "values counts by an equal part. `cotune annotations show` names them."
        )


def _people_table(report: AgreementReport) -> Table:
    table = Table("criterion", title="People among themselves", title_justify="left")
    for column in ("items", "by several", "annotators"):
        table.add_column(column, justify="right")
    table.add_column("alpha")
    table.add_column("level")
    table.add_column("one against the others: raw")
    table.add_column("kappa")
    for name, each in report.people.items():
        table.add_row(
            plain(name),
            f"{each.items:,}",
            f"{each.shared:,}",
            f"{len(each.annotators):,}",
            told(each.alpha),
            str(each.level),
            *(told(each.left_out.estimates[measure]) for measure in (Measure.RAW, Measure.KAPPA)),
        )
    return table


def _pairs_table(report: AgreementReport) -> Table:
    title = "Every two annotators"
    table = Table("criterion", "annotators", title=title, title_justify="left")
    for column in ("items", "raw", "kappa"):
        table.add_column(column, justify="right")
    for name, each in report.people.items():
        for pair in each.pairs[:_PAIRS]:
            kappa = UNDEFINED if pair.kappa is None else number(pair.kappa)
            who = plain(f"{pair.first}, {pair.second}")
            table.add_row(plain(name), who, f"{pair.n:,}", number(pair.raw), kappa)
        if len(each.pairs) > _PAIRS:
            table.add_row("", f"… and {len(each.pairs) - _PAIRS:,} more (--json has all)")
    return table


def _judge_table(report: AgreementReport) -> Table:
    table = Table("criterion", title="The judge against people", title_justify="left")
    table.add_column("n", justify="right")
    for heading in _MEASURES.values():
        table.add_column(heading)
    table.add_column("people: kappa")
    for name, each in report.judge.items():
        found = each.comparison
        measured = (found.estimates.get(measure) for measure in _MEASURES)
        ceiling = told(report.people[name].left_out.estimates[Measure.KAPPA])
        cells = (_NOTHING if one is None else told(one) for one in measured)
        table.add_row(plain(name), f"{found.n:,}", *cells, ceiling)
    return table


def _confusion_table(name: str, found: Comparison) -> Table:
    table = Table("people", title=plain(f"{name}: people and judge"), title_justify="left")
    names = [value_name(value, found.scale) for value in found.scale.values]
    for each in names:
        table.add_column(f"judge: {each}", justify="right")
    for each, row in zip(names, found.confusion, strict=True):
        table.add_row(each, *(f"{count:g}" for count in row))
    return table


def _has_probabilities(report: AgreementReport) -> bool:
    return any(each.reliability is not None for each in report.judge.values())


def _reliability_table(report: AgreementReport) -> Table:
    title = "Probabilities of a pass, and how often it was one"
    table = Table("criterion", "Brier", "always the mean", title=title, title_justify="left")
    table.add_column("said → passed (items)")
    for name, each in report.judge.items():
        if each.reliability is not None:
            curve = "  ".join(
                f"{one.said:.2f} → {one.passed:.2f} ({one.n:g})" for one in each.reliability.bins
            )
            brier, constant = told(each.reliability.brier), number(each.reliability.constant)
            table.add_row(plain(name), brier, constant, curve)
    return table


def _weighted_table(report: AgreementReport) -> Table:
    """Put what the judge reaches beside what people reach, as the paper's first table does."""
    assert report.judge_weighted is not None
    assert report.rubric is not None
    judge, people = report.judge_weighted, report.people_weighted
    table = Table("domain", title="Weighted by the rubric", title_justify="left")
    table.add_column("weight", justify="right")
    for column in ("raw", "kappa", "kappa of", "people: raw", "people: kappa"):
        table.add_column(column)
    for domain in report.rubric.domains:
        reached = judge.domains.get(domain.id)
        if reached is not None:
            ceiling = people.domains.get(domain.id) if people else None
            weight = f"{domain.weight:g} %"
            table.add_row(plain(domain.name), weight, *_weighted_cells(reached, ceiling))
    table.add_section()
    whole = _weighted_cells(judge.overall, people.overall if people else None)
    table.add_row("overall", "", *whole, style="bold")
    return table


def _weighted_cells(
    reached: WeightedAgreement, ceiling: WeightedAgreement | None
) -> tuple[str, ...]:
    people = (_NOTHING, _NOTHING) if ceiling is None else (told(ceiling.raw), told(ceiling.kappa))
    of = f"{reached.kappa_of} of {reached.criteria} criteria"
    return told(reached.raw), told(reached.kappa), of, *people


def told(estimate: Estimate) -> str:
    """Write an estimate with its bounds, or that it is not defined."""
    if estimate.value is None:
        return UNDEFINED
    if estimate.low is None or estimate.high is None:
        return f"{_signed(estimate.value)} (no interval)"
    return f"{_signed(estimate.value)} ({_signed(estimate.low)} to {_signed(estimate.high)})"


def _signed(value: float) -> str:
    return f"{value:z.3f}".replace("-", "−")


def _say(console: Console, *lines: str) -> None:
    for line in lines:
        console.print(plain(line), markup=False, highlight=False, soft_wrap=True)
