"""Findings: what the doctor looked at, what it saw, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """How a finding bears on a run."""

    FINE = "fine"
    SKIPPED = "skipped"
    WARNING = "warning"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class Finding:
    """What one look has shown.

    Attributes:
        about: What was looked at, a word or two.
        level: How it bears on a run; a `PROBLEM` makes one fail or its result worthless.
        said: What was seen.
        remedy: What to do; empty where nothing is to be done.
    """

    about: str
    level: Level
    said: str
    remedy: str = ""


def fine(about: str, said: str) -> Finding:
    """Return what is as it should be."""
    return Finding(about, Level.FINE, said)


def skipped(about: str, said: str) -> Finding:
    """Return what was not looked at."""
    return Finding(about, Level.SKIPPED, said)


def warning(about: str, said: str, remedy: str) -> Finding:
    """Return what a run can live with, and its reader should know."""
    return Finding(about, Level.WARNING, said, remedy)


def problem(about: str, said: str, remedy: str) -> Finding:
    """Return what a run cannot live with."""
    return Finding(about, Level.PROBLEM, said, remedy)
