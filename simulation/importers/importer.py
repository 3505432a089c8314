"""What every importer does: give trajectories one by one, and say what it refused and why."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn, Protocol, TypeVar

from pydantic import BaseModel, ValidationError

from ...agents.problem import problems_of
from ...agents.problem_words import json_in_words, value_in_words
from ..trajectory import Trajectory

_DEEPEST = 100  # levels; what reads trajectories later on has a limit too

_Raw = TypeVar("_Raw")
_Model = TypeVar("_Model", bound=BaseModel)


class MalformedError(ValueError):
    """A record cannot be understood; the message is the reason, in words for a person."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A record that was left out.

    Attributes:
        unit: What the source consists of: `line`, `record` or `session`.
        number: Which one, from 1.
        reason: Why.
    """

    unit: str
    number: int
    reason: str

    def __str__(self) -> str:
        return f"{self.unit} {self.number}: {self.reason}"


class Imported:
    """The conversations of a source, read while they are taken.

    Attributes:
        refused: What was left out so far; complete once all conversations were taken.
    """

    def __init__(self, records: Iterable[Trajectory | Refused]) -> None:
        self._records = iter(records)
        self.refused: list[Refused] = []

    def __iter__(self) -> Iterator[Trajectory]:
        for record in self._records:
            if isinstance(record, Refused):
                self.refused.append(record)
            else:
                yield record


class Names:
    """The names taken so far in a source, so that no conversation is there twice."""

    def __init__(self) -> None:
        self._owners: dict[str, int] = {}

    def take(self, name: str, number: int) -> None:
        """Take a name for a record.

        Raises:
            MalformedError: An earlier record has it.
        """
        owner = self._owners.setdefault(name, number)
        if owner != number:
            raise MalformedError(f"{name} was there before, at {owner}")


class Importer(Protocol):
    """Reads one format."""

    def __call__(self, source: str, /) -> Imported:
        """Open a source: the path of a file, or whatever the format is kept in.

        Raises:
            UsageError: There is no such source. Malformed records are no reason to raise.
        """
        ...


def read_each(
    unit: str, numbered: Iterable[tuple[int, _Raw]], read: Callable[[_Raw, int], Trajectory]
) -> Iterator[Trajectory | Refused]:
    """Read records and go on after those that are malformed."""
    for number, raw in numbered:
        try:
            record = read(raw, number)
        except MalformedError as error:
            record = Refused(unit, number, str(error))
        yield record


def decode(text: str) -> Any:
    """Read strict JSON: numbers are finite, and every text can be written as UTF-8.

    Raises:
        MalformedError: It is not JSON.
    """
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
        if "\\ud" in text.lower():  # perhaps half of a surrogate pair, which no file can hold
            json.dumps(value, ensure_ascii=False).encode()
        _require_shallow(value, _DEEPEST)
    except UnicodeEncodeError as error:
        raise MalformedError("it holds half of a Unicode surrogate pair") from error
    except RecursionError as error:
        raise MalformedError("it is nested too deeply") from error
    except ValueError as error:
        raise MalformedError(f"it is not JSON ({json_in_words(error)})") from error
    return value


def validated(model: type[_Model], value: object) -> _Model:
    """Check a decoded record against the model of its format.

    Raises:
        MalformedError: It does not fit.
    """
    if not isinstance(value, Mapping):
        raise MalformedError(f"found {value_in_words(value)} where an object is expected")
    try:
        return model.model_validate(value)
    except ValidationError as error:
        place, message = next(problems_of(error, model))
        where = ".".join(map(str, place))
        raise MalformedError(f"{where}: {message}" if where else message) from error


def _require_shallow(value: object, levels: int) -> None:
    if not levels:
        raise RecursionError
    if isinstance(value, (dict, list)):
        for inner in value.values() if isinstance(value, dict) else value:
            _require_shallow(inner, levels - 1)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number in JSON")
