"""A comparison of judges on the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from rich.console import Console
from rich.table import Table

from ..rubrics.comparison import Measure
from .agreement_tables import told
from .agreement_words import of_judge
from .brief import plain
from .calibration_tables import difference
from .judge_cost import VerdictCost
from .judge_ranking import MEASURES, Ranked, Ranking

_UNKNOWN = "–"


def present_ranking(ranking: Ranking, console: Console) -> None:
    """Print who agrees with people, and which judge to take."""
    console.print(_judges_table(ranking))
    console.print(_criteria_table(ranking))
    lines = [*_left_out(ranking), *_notes(ranking), "", *recommendation(ranking)]
    for line in lines:
        console.print(plain(line), markup=False, highlight=False, soft_wrap=True)


def recommendation(ranking: Ranking) -> Iterator[str]:
    """Yield which judge to take, why, and what is not known of the others."""
    taken, best = ranking.recommended, ranking.best
    if taken is None:
        yield "No judge can be recommended: agreement beyond chance is undefined on these labels."
        return
    good = [each for each in ranking.judges if each.is_good_enough]
    if len(good) == 1:
        yield (
            f"Take {best.name}, the best: no other judge is shown to be behind it by no more than "
            f"{ranking.margin:g} of kappa."
        )
    elif taken is best:
        yield (
            f"Take {best.name}: it is the best, and none of those that are shown to be behind it "
            f"by no more than {ranking.margin:g} of kappa is known to cost less."
        )
    else:
        yield (
            f"Take {taken.name}: it is the cheapest ({_cost(taken.cost)}) of those that are shown "
            f"to be behind {best.name} by no more than {ranking.margin:g} of kappa. Its kappa less "
            f"that of the best: {difference(taken.behind_overall)}."
        )
    for each in ranking.judges:
        yield from _open(each, ranking)
    unpriced = [each.name for each in good if each.cost is None or each.cost.usd is None]
    if unpriced and len(good) > 1:
        yield f"Good enough, but of unknown price: {', '.join(unpriced)}."
    if (best.overall[Measure.KAPPA].low or 0.0) <= 0.0:
        yield f"Even the agreement of {best.name} may be chance: its interval includes 0."


def _open(judge: Ranked, ranking: Ranking) -> Iterator[str]:
    """Yield how many conversations would tell whether a judge is good enough, if labels could."""
    behind = judge.behind_overall
    if judge.is_good_enough or behind.value is None or behind.low is None or behind.high is None:
        return
    if behind.high < -ranking.margin:
        yield f"{judge.name} is shown to agree less by more than the margin."
    elif behind.value > -ranking.margin:
        short = (behind.value - behind.low) / (behind.value + ranking.margin)
        yield (
            f"{judge.name} may be good enough: at the same difference about "
            f"{ceil(behind.clusters * short**2):,} annotated conversations would show it; these "
            f"are {behind.clusters:,}."
        )


def _judges_table(ranking: Ranking) -> Table:
    title = f"Judges against people, over all criteria ({ranking.confidence:.0%} intervals)"
    table = Table("judge", title=title, title_justify="left")
    for column in ("raw", "kappa", "balanced", "kappa less the best's", "no value"):
        table.add_column(column)
    for column in ("$ per 1,000 verdicts", "tokens", "seconds"):
        table.add_column(column, justify="right")
    for each in ranking.judges:
        less = "the best" if each is ranking.best else difference(each.behind_overall)
        table.add_row(
            plain(each.name),
            *(told(each.overall[measure]) for measure in MEASURES),
            less,
            f"{sum(each.without_value.values()):,}",
            *_prices(each.cost),
        )
    return table


def _criteria_table(ranking: Ranking) -> Table:
    joint = f"differences: together {ranking.confidence:.0%}"
    table = Table("criterion", title=f"By criterion ({joint})", title_justify="left")
    table.add_column("judge")
    table.add_column("n", justify="right")
    for column in ("raw", "kappa", "kappa less the best's"):
        table.add_column(column)
    for name in ranking.best.criteria:
        for each in ranking.judges:
            found = each.criteria[name].comparison
            cells = (told(found.estimates[one]) for one in (Measure.RAW, Measure.KAPPA))
            less = "" if each is ranking.best else difference(each.behind[name])
            table.add_row(plain(name), plain(each.name), f"{found.n:,}", *cells, less)
        table.add_section()
    return table


def _prices(cost: VerdictCost | None) -> tuple[str, str, str]:
    if cost is None:
        return _UNKNOWN, _UNKNOWN, _UNKNOWN
    usd = _UNKNOWN if cost.usd is None else f"{1000 * cost.usd:.2f}"
    seconds = _UNKNOWN if cost.seconds is None else f"{cost.seconds:.2f}"
    return usd, f"{cost.tokens:,.0f}", seconds


def _cost(cost: VerdictCost | None) -> str:
    usd, tokens, seconds = _prices(cost)
    return f"${usd} for 1,000 verdicts, {tokens} tokens and {seconds} s for one"


def _left_out(ranking: Ranking) -> Iterator[str]:
    for name, count in ranking.left_out.items():
        if count:
            by = ", ".join(
                f"{each.name} {each.without_value[name]:,}"
                for each in ranking.judges
                if each.without_value[name]
            )
            yield f"{name}: {count:,} items are left out, to which a judge gave no value: {by}."


def _notes(ranking: Ranking) -> Iterator[str]:
    for each in ranking.judges:
        for name, found in each.criteria.items():
            yield from (f"{each.name}: {said}" for said in of_judge(name, found))
