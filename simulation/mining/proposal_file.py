"""Files of proposals: scenarios as YAML, with what a person should check as comments."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import yaml

from ...agents.errors import CotuneError
from ..scenario_file import compact
from .proposal import Proposal

_WIDTH = 98


def write_proposals(path: Path, proposals: Iterable[Proposal]) -> None:
    """Write a scenario file; it can be read as it is.

    Raises:
        CotuneError: It cannot be written.
    """
    text = "\n".join(_entry(each) for each in proposals)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise CotuneError(f"Cannot write the scenarios {path}: {error.strerror}.") from error


def _entry(proposal: Proposal) -> str:
    comments = [f"# from conversation {proposal.number}"]
    # On one line each, or the rest of a comment would be read as a scenario.
    comments += [f"# check: {_line(each)}" for each in proposal.checks]
    body = yaml.safe_dump(
        [compact(proposal.scenario)], sort_keys=False, allow_unicode=True, width=_WIDTH
    )
    return "\n".join([*comments, body])


def _line(text: str) -> str:
    return "".join(each for each in " ".join(text.split()) if each.isprintable())
