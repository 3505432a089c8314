"""A comparison of two sides on the terminal, and for programs."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.table import Table

from ..agents.counted import counted
from ..optimizer.side_by_side import CRITERION, DOMAIN, Flip
from ..rubrics.ruling import Ruling
from .brief import plain
from .bundle_match import BundleMatch
from .compared import Compared, ComparedSides, figures
from .conclusion import SIMULATION, bounds, number, percent, signed

_SHOWN_FLIPS = 5


def announce_match(match: BundleMatch, console: Console) -> None:
    """Say what will be played."""
    run = match.run
    if run.about.simulated:
        console.print(SIMULATION, style="yellow")
    said = (
        f"{run.subject}, {run.config.models.of_agents}, rubric '{run.rubric.id}': "
        f"{counted(len(match.examples), 'example')} with the prompts of each side. What was "
        "played before is not paid for again."
    )
    for line in (said, *match.notes):
        console.print(plain(line), markup=False, highlight=False)


def present_comparison(shown: ComparedSides, console: Console) -> None:
    """Print the table, what may be concluded, and the pairs that changed most."""
    for line in (f"A: {shown.one.name}", f"B: {shown.other.name}", ""):
        console.print(plain(line), markup=False, highlight=False, soft_wrap=True)
    if shown.simulated:
        console.print(SIMULATION, style="yellow")
    console.print(_table(shown))
    for line in (shown.sentence, *_notes(shown), *_flip_lines(shown)):
        console.print(plain(line), markup=False, highlight=False, soft_wrap=True)


def comparison_json(shown: ComparedSides) -> dict[str, Any]:
    """Return the same as JSON values; all flips are in it."""
    held_out = shown.held_out
    return {
        "a": shown.one.name,
        "b": shown.other.name,
        "conclusion": str(held_out.conclusion),
        "less_safe": not held_out.deployable,
        "said": shown.sentence,
        "examples": held_out.examples,
        "lost": held_out.lost,
        "alone": {"a": shown.found.alone[0], "b": shown.found.alone[1]},
        "judged_alike": shown.found.judged_alike,
        "simulated": shown.simulated,
        "score": figures(held_out.overall),
        "domains": {name: figures(each) for name, each in shown.found.parts(DOMAIN).items()},
        "criteria": {name: figures(each) for name, each in shown.found.parts(CRITERION).items()},
        "critical": {name: figures(each) for name, each in held_out.critical.items()},
        "flips": [_flip_json(flip, shown) for flip in shown.found.flips],
    }


def _table(shown: ComparedSides) -> Table:
    confidence = f"{percent(shown.held_out.overall.difference)} % interval"
    table = Table()
    table.add_column("", overflow="fold")
    for column in ("A", "B", "difference", confidence):
        table.add_column(column, justify="right")
    for name, each in shown.rows():
        table.add_row(
            plain(name),
            number(each.seed),
            number(each.winner),
            signed(each.difference.mean),
            bounds(each.difference),
        )
    return table


def _notes(shown: ComparedSides) -> Iterator[str]:
    """Yield what a reader of the mean alone would miss."""
    if not shown.held_out.deployable:
        worse = [
            f"{name} ({each.seed:.1%} → {each.winner:.1%}, "
            f"{'more than luck' if each.clear else 'perhaps by chance'})"
            for name, each in shown.held_out.critical.items()
            if each.difference.mean > 0
        ]
        yield f"B is less safe: it fails more often at what is critical: {', '.join(worse)}."
    if not shown.found.judged_alike:
        yield (
            "Not judged alike: another judge, or one with other prompts, decided the other side, "
            "so a difference may be the judge's."
        )
    if shown.held_out.lost:
        yield f"Left out, because of a fault on either side: {shown.held_out.lost}."
    if any(shown.found.alone):
        yield (
            f"Without a partner, and left out: {shown.found.alone[0]} of A, "
            f"{shown.found.alone[1]} of B."
        )


def _flip_lines(shown: ComparedSides) -> Iterator[str]:
    flips = shown.found.flips
    if not flips:
        yield "No criterion is met on one side only."
        return
    better, worse = (sum(sign * flip.change > 0 for flip in flips) for sign in (1, -1))
    yield (
        f"{counted(len(flips), 'pair differs', 'pairs differ')} in a criterion; of these B scores "
        f"higher in {better} and lower in {worse}."
    )
    for flip in flips[:_SHOWN_FLIPS]:
        yield f"  {signed(flip.change)}  {flip.scenario}: {_differs(flip)}"
        yield from (f"          {command}" for command in _commands(flip, shown))
    if len(flips) > _SHOWN_FLIPS:
        yield f"  … {len(flips) - _SHOWN_FLIPS} more; --json has all."


def _differs(flip: Flip) -> str:
    parts = [f"B meets {', '.join(flip.gained)}"] if flip.gained else []
    parts += [f"B misses {', '.join(flip.lost)}"] if flip.lost else []
    for side, ruling in (("A", flip.before), ("B", flip.after)):
        if ruling.fault is not None:
            parts.append(f"{side} broke off: {ruling.fault.message}")
    return "; ".join(parts)


def _commands(flip: Flip, shown: ComparedSides) -> Iterator[str]:
    sides = ((shown.one, flip.before), (shown.other, flip.after))
    return (found for side, ruling in sides if (found := _command(side, ruling)) is not None)


def _command(side: Compared, ruling: Ruling) -> str | None:
    """Return what shows a conversation; None where it is not known."""
    if side.conversations is None:
        return None
    return shlex.join(["cotune", "show", str(side.conversations), "--number", str(ruling.number)])


def _flip_json(flip: Flip, shown: ComparedSides) -> dict[str, Any]:
    return {
        "scenario": flip.scenario,
        "label": flip.after.label,
        "change": flip.change,
        "gained": list(flip.gained),
        "lost": list(flip.lost),
        "a": {"score": flip.before.objective, "read": _command(shown.one, flip.before)},
        "b": {"score": flip.after.objective, "read": _command(shown.other, flip.after)},
    }
