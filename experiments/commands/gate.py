"""`cotune gate`: verdicts held against thresholds, for continuous integration."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import typer
from pydantic import ValidationError

from ...agents.errors import UsageError
from ...agents.problem import problems_of
from ...rubrics.gate import Requirement, Thresholds, load_thresholds, requirements
from ...rubrics.ruling_file import read_rulings
from ...rubrics.tally import Tally
from ..brief import plain


def run(
    verdicts: Path, file: Path | None, least: Sequence[str], most: Sequence[str], *, as_json: bool
) -> None:
    """Run the command; see `cotune gate --help`.

    Args:
        verdicts: What `cotune judge` wrote.
        file: Thresholds, as YAML.
        least: Thresholds to be reached, as `NAME=VALUE`; they go before those of the file.
        most: Thresholds not to be exceeded, likewise.
        as_json: Whether to print JSON.

    Raises:
        UsageError: A file cannot be read, or a threshold means nothing.
    """
    given = _thresholds(least, most)
    thresholds = given if file is None else load_thresholds(file).overridden(given)
    held = requirements(Tally.of(read_rulings(verdicts)), thresholds)
    passed = all(each.met for each in held)
    if as_json:
        content = {"passed": passed, "requirements": [asdict(each) for each in held]}
        typer.echo(json.dumps(content, indent=2, ensure_ascii=False))
    else:
        _print(held)
    if not passed:
        failed = [each.said for each in held if not each.met]
        typer.echo(plain(f"cotune: the gate failed. {'; '.join(failed)}."), err=True)
        raise typer.Exit(1)


def _print(held: Sequence[Requirement]) -> None:
    for each in held:
        typer.echo(plain(f"{'ok  ' if each.met else 'FAIL'}  {each.said}"))


def _thresholds(least: Sequence[str], most: Sequence[str]) -> Thresholds:
    try:
        return Thresholds.model_validate(
            {"min": _named("--min", least), "max": _named("--max", most)}
        )
    except ValidationError as error:
        place, said = next(problems_of(error, Thresholds))
        raise UsageError(f"--{' '.join(str(part) for part in place)}: {said}.") from error


def _named(option: str, given: Sequence[str]) -> dict[str, str]:
    thresholds: dict[str, str] = {}
    for each in given:
        name, sign, value = each.partition("=")
        if not sign or not name.strip() or not value.strip():
            raise UsageError(f"{option} '{each}' is no NAME=VALUE, such as {option} overall=0.8.")
        if name.strip() in thresholds:
            raise UsageError(f"{option} gives '{name.strip()}' twice; keep one.")
        thresholds[name.strip()] = value.strip()
    return thresholds
