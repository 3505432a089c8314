"""What a judging run says on the terminal and in JSON: before it judges, and when it is done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..agents.ledger import Ledger
from ..rubrics.criterion import CheckProves, Criterion
from ..rubrics.rubric import Rubric
from ..rubrics.ruling import Ruling, Standing
from ..rubrics.tally import CriterionTally, Moments, Tally
from .brief import brief
from .conclusion import SIMULATION, number
from .judging_run import JudgingRun

_MEANINGS = {
    Standing.FAILED: "Broken off by the assistant itself, scored 0",
    Standing.UNDECIDED: "Not decided by the judge, without a score",
    Standing.NOT_APPLICABLE: "Nothing in the rubric was decided, without a score",
    Standing.EXCLUDED: "Broken off by no fault of the assistant's, excluded",
}
_FOUND = "failures found"
_BLAMED_FOR = 3


def announce(run: JudgingRun, console: Console) -> None:
    """Say what will be judged, by whom, and what cannot be."""
    if run.model is not None and run.model.settings.is_scripted:
        console.print(SIMULATION, style="yellow")
    survey = run.survey
    judge = "checks only" if run.model is None else f"checks, then {run.model.settings.model}"
    _say(
        console,
        f"Conversations: {survey.conversations:,}. Rubric: {run.rubric.id}. Judged by: {judge}.",
    )
    if run.model is None:
        _say_left_open(run.rubric, console)
    if survey.without_scenario:
        _say(
            console,
            f"Without a scenario in '{run.scenarios.source}': {survey.without_scenario:,}. What "
            "the cart should hold is not known of these, and checks of it do not apply.",
        )


def present(tally: Tally, ledger: Ledger, run: JudgingRun, console: Console) -> None:
    """Print what came of it, and where to read on."""
    console.print()
    _print_counts(tally, run.rubric, console)
    console.print(_domains_table(tally, run))
    console.print(_criteria_table(tally, run))
    _print_blame(tally, console)
    _print_worst(tally, run, console)
    for role, usage in sorted(ledger.by_role().items()):
        _say(
            console,
            f"{role} model: {usage.calls:,} calls ({usage.replayed:,} of them earlier), "
            f"{usage.attempts:,} requests, {usage.tokens:,} tokens, ${usage.cost:.4f}",
        )
    _say(console, f"Verdicts:  {run.out}")


def summary_json(tally: Tally, ledger: Ledger, run: JudgingRun) -> dict[str, Any]:
    """Return the same as JSON values."""
    return {
        "conversations": run.survey.conversations,
        "without_scenario": run.survey.without_scenario,
        "rubric": {"id": run.rubric.id, "fingerprint": run.rubric.fingerprint},
        "judge": None if run.model is None else run.model.settings.model,
        "simulated": run.model is not None and run.model.settings.is_scripted,
        "standings": {str(each): tally.standings[each] for each in Standing},
        "faults": dict(sorted(tally.faults.items())),
        "passed": {"yes": tally.passed[True], "no": tally.passed[False], "?": tally.passed[None]},
        "critical_failures": dict(tally.critical),
        "score": _moments_json(tally.score),
        "objective": _moments_json(tally.objective),
        "domains": {name: _moments_json(each) for name, each in tally.domains.items()},
        "criteria": {name: _criterion_json(each) for name, each in tally.criteria.items()},
        "unblamed": tally.unblamed,
        "blame": {agent: dict(each) for agent, each in sorted(tally.blame.items())},
        "worst": [
            {
                "number": each.number,
                "scenario": each.scenario,
                "objective": each.objective,
                "score": each.overall,
                "read": _command(each, run),
            }
            for each in tally.worst
        ],
        "usage": {str(role): usage.to_json() for role, usage in sorted(ledger.by_role().items())},
        "verdicts": str(run.out),
    }


def _say_left_open(rubric: Rubric, console: Console) -> None:
    """Say what cannot be decided without a judge."""
    judged = [each for each in rubric.criteria if each.judged]
    unread = [each.id for each in judged if each.check is None]
    partly = [each.id for each in judged if each.check and each.check_proves is CheckProves.FAILURE]
    if unread:
        _say(console, f"Without --judge these do not apply: {', '.join(unread)}.")
    if partly:
        _say(
            console,
            f"Without --judge these can fail, but not pass, and are counted: {', '.join(partly)}.",
        )


def _print_counts(tally: Tally, rubric: Rubric, console: Console) -> None:
    for standing, meaning in _MEANINGS.items():
        if tally.standings[standing]:
            _say(console, f"{meaning}: {tally.standings[standing]:,}.")
    if tally.faults:
        _say(console, f"Faults: {', '.join(_counts(tally.faults))}.")
    _say(console, f"With a score: {tally.counted:,}{_gated(tally, rubric)}.")
    if tally.critical:
        _say(console, f"Critical failures: {', '.join(_counts(tally.critical))}.")


def _gated(tally: Tally, rubric: Rubric) -> str:
    """Say how many passed; without critical criteria nothing can be failed."""
    if not any(each.critical for each in rubric.criteria):
        return ""
    yes, no, unknown = (tally.passed[each] for each in (True, False, None))
    undecided = f", {unknown:,} undecided" if unknown else ""
    return f"; {yes:,} passed, {no:,} did not{undecided}"


def _domains_table(tally: Tally, run: JudgingRun) -> Table:
    table = Table("score", title="Scores", title_justify="left")
    for column in ("weight", "mean", "sd", "n"):
        table.add_column(column, justify="right")
    for domain in run.rubric.domains:
        reached = tally.domains.get(domain.id, Moments())
        name = escape(domain.name)
        cells = _cells(reached)
        if _is_a_count(run, run.rubric.in_domain(domain.id)):
            name, cells = f"{name} ({_FOUND})", _counted(reached)
        table.add_row(name, f"{domain.weight:g} %", *cells)
    table.add_section()
    table.add_row("overall", "", *_cells(tally.score), style="bold")
    table.add_row("objective (after critical failures)", "", *_cells(tally.objective))
    return table


def _criteria_table(tally: Tally, run: JudgingRun) -> Table:
    table = Table("criterion", title="Criteria", title_justify="left")
    for column in ("mean", "sd", "n", "verdicts", "n/a", "inconclusive"):
        table.add_column(column, justify="left" if column == "verdicts" else "right")
    for domain in run.rubric.domains:
        for criterion in run.rubric.in_domain(domain.id):
            reached = tally.criteria.get(criterion.id, CriterionTally())
            name = f"{criterion.id}{' (critical)' if criterion.critical else ''}"
            cells = (*_cells(reached.values), _shares(criterion, reached))
            if _is_a_count(run, [criterion]):
                cells = (*_counted(reached.values), _FOUND if reached.values.n else "")
            left = (f"{reached.not_applicable:,}", f"{reached.inconclusive:,}")
            table.add_row(escape(name), *cells, *left)
        table.add_section()
    return table


def _shares(criterion: Criterion, reached: CriterionTally) -> str:
    """Say which share of the verdicts has each value of the scale."""
    total = reached.tiers.total()
    if not total:
        return ""
    if isinstance(criterion.scale, str):
        return f"{reached.tiers[1.0] / total:.0%} pass"
    return ", ".join(f"{value:g}: {reached.tiers[value] / total:.0%}" for value in criterion.values)


def _is_a_count(run: JudgingRun, criteria: Iterable[Criterion]) -> bool:
    """Say whether only failures could be found: a mean of those alone would say nothing."""
    checked = [each for each in criteria if each.check is not None]
    only_failures = all(each.check_proves is CheckProves.FAILURE for each in checked)
    return run.model is None and bool(checked) and only_failures


def _counted(failures: Moments) -> tuple[str, str, str]:
    return number(None), "", f"{failures.n:,}"


def _cells(reached: Moments) -> tuple[str, str, str]:
    return number(reached.mean if reached.n else None), number(reached.sd), f"{reached.n:,}"


def _print_blame(tally: Tally, console: Console) -> None:
    if tally.unblamed:
        said = (
            "Verdicts below their best for which nobody is blamed, as no agent is on record at work"
        )
        _say(console, f"{said}: {tally.unblamed:,}.")
    if not tally.blame:
        return
    table = Table("agent", title="Blame for what is below its best", title_justify="left")
    table.add_column("verdicts", justify="right")
    table.add_column("most of all for")
    by_share = sorted(tally.blame.items(), key=lambda item: -sum(item[1].values()))
    for agent, reasons in by_share:
        first = sorted(reasons.items(), key=lambda item: -item[1])[:_BLAMED_FOR]
        most = ", ".join(f"{name} ({share:.1f})" for name, share in first)
        table.add_row(escape(brief(agent)), f"{sum(reasons.values()):.1f}", escape(most))
    console.print(table)


def _print_worst(tally: Tally, run: JudgingRun, console: Console) -> None:
    if not tally.worst:
        return
    _say(console, "The worst conversations:")
    for ruling in tally.worst:
        _say(console, f"  {_about(ruling)}\n    {_command(ruling, run)}")


def _about(ruling: Ruling) -> str:
    """Say how bad a conversation is, and why."""
    if ruling.fault is not None:
        why = ruling.fault.message
    else:
        low = [each for each in ruling.verdicts if each.value is not None and each.value < 1.0]
        why = ", ".join(dict.fromkeys(each.criterion for each in low))
    said = f"objective {number(ruling.objective)}, score {number(ruling.overall)}"
    return f"{brief(ruling.scenario)}: {said}: {brief(why) or 'nothing below its best'}"


def _command(ruling: Ruling, run: JudgingRun) -> str:
    return f"cotune show {run.trajectories} --number {ruling.number}"


def _say(console: Console, text: str) -> None:
    console.print(text, markup=False, highlight=False, soft_wrap=True)


def _counts(counter: Counter[str]) -> list[str]:
    return [f"{name} {count:,}" for name, count in counter.most_common()]


def _moments_json(reached: Moments) -> dict[str, Any]:
    return {"n": reached.n, "mean": reached.mean if reached.n else None, "sd": reached.sd}


def _criterion_json(reached: CriterionTally) -> dict[str, Any]:
    return {
        **_moments_json(reached.values),
        "verdicts": {f"{value:g}": count for value, count in sorted(reached.tiers.items())},
        "not_applicable": reached.not_applicable,
        "inconclusive": reached.inconclusive,
    }
