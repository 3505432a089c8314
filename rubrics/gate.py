"""The gate: what rulings come to, held against thresholds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, field_validator

from ..agents.errors import UsageError
from ..agents.yaml_file import load_yaml
from .figures import CONVERSATIONS, INCONCLUSIVE, UNDECIDED, Figure, figures
from .tally import Tally

_ROUNDING = 1e-9
_LEAST = {CONVERSATIONS: 1.0}
_MOST = {INCONCLUSIVE: 0.1, UNDECIDED: 0.1}

_Bound = Annotated[float, Field(ge=0.0)]


class Thresholds(BaseModel):
    """What must hold, by the names of figures; see `figures`.

    Attributes:
        min: What must be reached.
        max: What must not be exceeded.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    min: dict[str, _Bound] = Field(default_factory=dict)
    max: dict[str, _Bound] = Field(default_factory=dict)

    @field_validator("min", "max")
    @classmethod
    def _are_shares(cls, bounds: dict[str, float]) -> dict[str, float]:
        for name, bound in bounds.items():
            if bound > 1.0 and name != CONVERSATIONS:
                raise ValueError(f"'{name}' is {bound:g}, and figures are from 0 to 1")
        return bounds

    def overridden(self, other: Thresholds) -> Thresholds:
        """Return these with those of `other` instead, name by name."""
        return Thresholds(min=self.min | other.min, max=self.max | other.max)


@dataclass(frozen=True, slots=True)
class Requirement:
    """One threshold, and whether it is kept.

    Attributes:
        name: Of the figure, such as `overall` or `domain.safety`.
        found: The figure; None when nothing is known.
        needed: The threshold.
        met: Whether it is kept.
        said: A sentence with what was found and needed.
    """

    name: str
    found: float | None
    needed: float
    met: bool
    said: str


def load_thresholds(path: Path) -> Thresholds:
    """Read a file of thresholds.

    Raises:
        UsageError: It cannot be used; every problem is named with its line.
    """
    return load_yaml(Thresholds, path, "gate file")


def requirements(tally: Tally, thresholds: Thresholds) -> tuple[Requirement, ...]:
    """Hold a tally against thresholds.

    Unless asked otherwise, at least one conversation must have a score, and at most a tenth of the
    criteria that apply may be inconclusive, and of the conversations undecided. A plain name means
    the figure of the whole, else the domain and the criterion of that id: both, when both have it.

    Raises:
        UsageError: A name is not known, or not all verdicts answer to one rubric and one judge.
    """
    _require_one_yardstick(tally)
    known = figures(tally)
    at_least, at_most = _LEAST | thresholds.min, _MOST | thresholds.max
    enough = _enough(known[CONVERSATIONS], at_least.pop(CONVERSATIONS))
    if not tally.standings:  # nothing to know names from
        return (enough,)
    open_ = at_most[INCONCLUSIVE]
    return (
        enough,
        *(_at_most(name, known[name], most) for name, most in _resolved(at_most, known)),
        *(_at_least(name, known[name], least, open_) for name, least in _resolved(at_least, known)),
    )


def _require_one_yardstick(tally: Tally) -> None:
    for what, met in (("rubrics", tally.rubrics), ("judges", tally.judges)):
        if len(met) > 1:
            raise UsageError(
                f"The verdicts come from {len(met)} different {what}, and a mean over them says "
                "nothing. Judge all conversations alike, or gate each file by itself."
            )


def _resolved(
    thresholds: Mapping[str, float], known: Mapping[str, Figure]
) -> Iterator[tuple[str, float]]:
    """Yield thresholds by the full names of their figures."""
    for name, needed in thresholds.items():
        full = [name, f"domain.{name}", f"criterion.{name}"]
        meant = [each for each in full if each in known]
        if not meant:
            plain = dict.fromkeys(each.partition(".")[2] or each for each in known)
            raise UsageError(
                f"There is no figure '{name}' to hold against a threshold. There are: "
                f"{', '.join(plain)}. A domain of which nothing applied has none."
            )
        yield from ((each, needed) for each in (meant[:1] if meant[0] == name else meant))


def _enough(figure: Figure, needed: float) -> Requirement:
    found = figure.n
    met = found >= needed
    few = "" if met else "too few conversations: "
    said = f"{few}{found} have a score, at least {needed:g} needed"
    return Requirement(CONVERSATIONS, float(found), needed, met, said)


def _at_least(name: str, figure: Figure, needed: float, open_: float) -> Requirement:
    if figure.value is None:
        said = f"{name}: nothing is known, for no conversation has a value; {needed:g} needed"
        return Requirement(name, None, needed, False, said)
    found = f"{name}: {figure.what} is {figure.value:.6g} over {figure.n}"
    if figure.undecided > open_ + _ROUNDING:
        said = (
            f"{found}, but {figure.undecided:.1%} of what it should rest on is inconclusive, at "
            f"most {open_:.1%} allowed"
        )
        return Requirement(name, figure.value, needed, False, said)
    met = figure.value >= needed - _ROUNDING
    return Requirement(name, figure.value, needed, met, f"{found}, at least {needed:g} needed")


def _at_most(name: str, figure: Figure, needed: float) -> Requirement:
    if figure.value is None:
        said = f"{name}: nothing is known; at most {needed:g} allowed"
        return Requirement(name, None, needed, False, said)
    met = figure.value <= needed + _ROUNDING
    many = "too many inconclusive: " if name in _MOST and not met else ""
    found = f"{many}{name}: {figure.what} is {figure.value:.6g} over {figure.n}"
    said = f"{found}, at most {needed:g} allowed"
    return Requirement(name, figure.value, needed, met, said)
