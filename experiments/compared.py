"""What is compared: finished runs, verdicts files, or prompts that are played first."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from markupsafe import Markup

from ..agents.bundle_source import load_bundle
from ..agents.errors import UsageError
from ..agents.json_lines import stream_json_lines
from ..agents.prompts import PromptBundle
from ..optimizer.held_out import Comparison, HeldOut
from ..optimizer.settings import HeldOutTest
from ..optimizer.side_by_side import CRITERION, DOMAIN, SideBySide, compare_rulings
from ..rubrics.ruling import Ruling
from ..rubrics.ruling_file import read_rulings
from ..rubrics.statistics import Conclusion
from .conclusion import measured, number, simulation_html
from .run_folder import named_run
from .run_record import FILE_NAME
from .tested_side import FOLDER, WINNER, verdicts_path
from .warm_start import read_record

if TYPE_CHECKING:
    from pandas import DataFrame

_VERDICTS = ".verdicts.jsonl"
_SAID = {
    Conclusion.IMPROVED: "B is better",
    Conclusion.NO_EVIDENCE: "No evidence of a difference",
    Conclusion.WORSE: "B is worse",
}


@dataclass(frozen=True, slots=True)
class Compared:
    """One side.

    Attributes:
        name: What it is called.
        rulings: What was decided of all that it played.
        conversations: The file they are in, in the order of the rulings' numbers; None where that
            is not known, or an example is a single call.
        simulated: Whether it is known that a script answered in place of a model.
    """

    name: str
    rulings: tuple[Ruling, ...]
    conversations: Path | None
    simulated: bool = False

    @classmethod
    def read(cls, name: str, verdicts: Path, *, simulated: bool = False) -> Compared:
        """Read a side's verdicts.

        Raises:
            UsageError: It is no file of verdicts, or there is nothing in it.
        """
        _require_verdicts(verdicts)
        rulings = tuple(read_rulings(verdicts))
        if not rulings:
            raise UsageError(f"{verdicts} holds no verdict; `cotune judge` writes such files.")
        beside = verdicts.with_name(verdicts.name.removesuffix(_VERDICTS) + ".jsonl")
        is_known = verdicts.name.endswith(_VERDICTS) and beside.is_file()
        return cls(name, rulings, beside if is_known else None, simulated)


@dataclass(frozen=True, slots=True)
class ComparedSides:
    """Two sides and how they compare.

    Attributes:
        one: The first side, A.
        other: The second side, B.
        found: How they compare.
    """

    one: Compared
    other: Compared
    found: SideBySide

    @property
    def held_out(self) -> HeldOut:
        """The comparison of what both have."""
        return self.found.held_out

    @property
    def simulated(self) -> bool:
        """Whether it is known of a side that a script answered in place of a model."""
        return self.one.simulated or self.other.simulated

    @property
    def is_worse(self) -> bool:
        """Whether B is shown to be worse, or fails more often at what is critical."""
        return self.held_out.conclusion is Conclusion.WORSE or not self.held_out.deployable

    @property
    def sentence(self) -> str:
        """The result with its interval."""
        overall = self.held_out.overall
        return (
            f"{_SAID[self.held_out.conclusion]}: on {self.held_out.examples} examples that both "
            f"played A scores {number(overall.seed)} and B {number(overall.winner)}, a difference "
            f"of {measured(overall.difference)}."
        )

    def rows(self) -> list[tuple[str, Comparison]]:
        """Return everything that was compared: score, domains, criteria, critical failures."""
        domains = [(f"{DOMAIN} {name}", each) for name, each in self.found.parts(DOMAIN).items()]
        failed = [(f"failed: {name}", each) for name, each in self.held_out.critical.items()]
        criteria = self.found.parts(CRITERION).items()  # one may be called 'score'
        return [("score", self.held_out.overall), *domains, *criteria, *failed]

    def to_dataframe(self) -> DataFrame:
        """Return a row for everything that was compared, with its interval."""
        from pandas import DataFrame  # noqa: PLC0415 - half a second that only notebooks need

        names, compared = zip(*self.rows(), strict=True)
        return DataFrame(map(figures, compared), index=list(names))

    def _repr_html_(self) -> str:
        """Show conclusion and table in a notebook."""
        table = Markup(self.to_dataframe().to_html(float_format="%.3f"))  # noqa: S704
        return Markup("<p>A: {}<br>B: {}</p><p><strong>{}</strong></p>{}{}").format(
            self.one.name, self.other.name, self.sentence, simulation_html(self.simulated), table
        )


def figures(one: Comparison) -> dict[str, float | None]:
    """Return the numbers of a comparison, by name."""
    return {
        "a": one.seed,
        "b": one.winner,
        "difference": one.difference.mean,
        "low": one.difference.low,
        "high": one.difference.high,
        "n": one.difference.n,
        "p": one.p_value,
    }


def require_two(a: str | Path, b: str | Path) -> None:
    """Refuse to compare something with itself.

    Raises:
        UsageError: Both sides are the same.
    """
    if Path(a).resolve() == Path(b).resolve():
        raise UsageError(f"Both sides are {a}; name two.")


def require_nothing_played(given: Mapping[str, object], config: str) -> None:
    """Refuse what means nothing where nothing is played.

    Args:
        given: What may be said of how prompts are played, by its name; None where it was not.
        config: What the configuration is named with.

    Raises:
        UsageError: Something was said.
    """
    unused = [name for name, value in given.items() if value is not None]
    if unused:
        raise UsageError(
            f"{unused[0]} is about prompts that are played; name the configuration with "
            f"{config}, too, or leave it out."
        )


def side_of(given: Path, out: Path) -> Compared:
    """Return a side that was played before.

    Args:
        given: A verdicts file, or a run: its folder, or its name.
        out: The folder in which a name is looked for.

    Raises:
        UsageError: It is neither, or there is no verdict.
    """
    if given.is_file():
        return Compared.read(str(given), given)
    if _run_folder(given, out) is None and given.is_dir() and any(given.glob("*.md")):
        raise UsageError(
            f"{given} holds prompts, which have to be played to be compared: name the "
            "configuration of the assistant with --config."
        )
    record = read_record(given, out)
    found = verdicts_path(named_run(given, out) / FOLDER, WINNER)
    if not found.is_file():
        raise UsageError(
            f"The run {record.name} tested nothing, so that there is nothing to compare: no "
            "candidate was better on val, or an older version of cotune ran it. Have its prompts "
            "played: `cotune compare … --config FILE`."
        )
    return Compared.read(str(given), found, simulated=record.simulated)


def bundle_of(given: str, out: Path) -> PromptBundle:
    """Return prompts that are to be played; see `load_bundle`, and a run may go by its name.

    Raises:
        CotuneError: There are none.
    """
    return load_bundle(_run_folder(Path(given), out) or given)


def compare(
    one: Compared, other: Compared, settings: HeldOutTest | None = None, seed: int = 0
) -> ComparedSides:
    """Compare two sides, pair by pair.

    Args:
        one: The first side.
        other: The second side.
        settings: Of the intervals; the usual ones when None.
        seed: Of their resampling.

    Raises:
        UsageError: They were not judged by the same rubric, or have nothing in common.
    """
    rubrics = [
        {(each.rubric, each.by.get("rubric", "")) for each in side.rulings} for side in (one, other)
    ]
    if len(rubrics[0] | rubrics[1]) > 1:
        first, second = (", ".join(sorted({name for name, _ in each})) for each in rubrics)
        raise UsageError(
            f"{one.name} was judged by '{first}' and {other.name} by '{second}', or by another "
            "version of it, so that their scores mean different things. Judge both by one: "
            "`cotune judge CONVERSATIONS --rubric RUBRIC --out FILE`; or have the prompts of both "
            "played: `cotune compare … --config FILE`."
        )
    settings = settings or HeldOutTest()
    compared = compare_rulings(one.rulings, other.rulings, settings, seed)
    if compared is None:
        raise UsageError(
            f"{one.name} ({len(one.rulings)}) and {other.name} ({len(other.rulings)}) have no "
            "scored example in common. What is compared must have been played on the same "
            "scenarios."
        )
    return ComparedSides(one, other, compared)


def _require_verdicts(path: Path) -> None:
    """Refuse a file of conversations with what makes verdicts of it."""
    first = next(stream_json_lines(path, "verdicts"), None)
    if first is not None and isinstance(first.value, dict) and "turns" in first.value:
        raise UsageError(
            f"{path} holds conversations that nobody has judged. Compare what "
            f"`cotune judge {shlex.quote(str(path))} --rubric RUBRIC --out FILE` writes."
        )


def _run_folder(given: Path, out: Path) -> Path | None:
    """Return the folder of a finished run, or None when there is none."""
    folder = named_run(given, out)
    return folder if (folder / FILE_NAME).is_file() else None
