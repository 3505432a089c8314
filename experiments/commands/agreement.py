"""`cotune agreement`: how far people agree, and how far a judge agrees with them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

import typer
from rich.console import Console

from ...agents.errors import UsageError
from ...rubrics.clustered_estimate import Resampling
from ...rubrics.gold import GoldMethod
from ...rubrics.krippendorff_alpha import Level
from ..agreement_json import report_json
from ..agreement_run import AgreementStudy
from ..agreement_tables import present

_Choice = TypeVar("_Choice", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class AgreementOptions:
    """What the command line says.

    Attributes:
        rubric: A pack or a file.
        gold: How several people's values become one; see `GoldMethod`.
        level: What distances of values mean to alpha; what suits each scale when None.
        confidence: Of the intervals.
        resamples: Of the bootstrap.
        seed: Of the bootstrap.
    """

    rubric: str | None = None
    gold: str = GoldMethod.MAJORITY
    level: str | None = None
    confidence: float = 0.95
    resamples: int = 2000
    seed: int = 0

    def study(self, annotations: Sequence[Path]) -> AgreementStudy:
        """Read annotations, to be measured like this.

        Raises:
            UsageError: A file cannot be used, or an option means nothing.
        """
        return AgreementStudy.read(
            annotations,
            self.rubric,
            _chosen("--gold", self.gold, GoldMethod),
            None if self.level is None else _chosen("--level", self.level, Level),
            Resampling(self.confidence, self.resamples, self.seed),
        )


def run(
    annotations: Sequence[Path],
    verdicts: Path | None,
    options: AgreementOptions,
    *,
    as_json: bool,
) -> None:
    """Run the command; see `cotune agreement --help`."""
    if verdicts is not None and options.rubric is None:
        raise UsageError("--verdicts needs --rubric: the scales and weights that they answer to.")
    report = options.study(annotations).measured(verdicts)
    if as_json:
        typer.echo(json.dumps(report_json(report), indent=2, ensure_ascii=False))
    else:
        present(report, Console(highlight=False))


def _chosen(option: str, given: str, choices: type[_Choice]) -> _Choice:
    if given not in set(choices):
        raise UsageError(f"{option} is '{given}'; allowed: {', '.join(choices)}.")
    return choices(given)
