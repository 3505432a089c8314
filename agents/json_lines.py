"""Files of JSON lines, written and read one value at a time: they may be larger than memory."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from .data_file import Record
from .errors import CotuneError, UsageError
from .problem_words import json_in_words


def write_json_lines(path: Path, values: Iterable[Any], what: str) -> int:
    """Write a value a line.

    The file appears when it is whole; until then, and when `values` raises, one that was there
    before stays as it was.

    Args:
        path: The file; folders are made as needed.
        values: JSON values.
        what: What they are, for messages: 'trajectories', 'verdicts'.

    Returns:
        How many there were.

    Raises:
        CotuneError: The file cannot be written.
    """
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        count = _write_lines(unfinished, values)
        unfinished.replace(path)
    except OSError as error:
        raise CotuneError(f"Cannot write the {what} {path}: {error.strerror}.") from error
    finally:
        with suppress(OSError):  # what could not be written may not be there
            unfinished.unlink()
    return count


def stream_json_lines(path: Path, what: str) -> Iterator[Record]:
    """Yield the values of a file; blank lines are skipped.

    Args:
        path: The file.
        what: What it should hold, for messages.

    Raises:
        UsageError: The file cannot be read, or a line is not JSON; names the line.
    """
    try:
        with path.open(encoding="utf-8-sig") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield Record(path, number, _parsed(path, number, line))
    except OSError as error:
        raise UsageError(f"Cannot read the {what} {path}: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"Cannot read the {what} {path}: it is not UTF-8.") from error


def _write_lines(path: Path, values: Iterable[Any]) -> int:
    count = 0
    # Half a surrogate pair, as broken emoji have it, is written as the escape that JSON reads.
    with path.open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
        for count, value in enumerate(values, start=1):  # noqa: B007 - returned
            file.write(json.dumps(value, ensure_ascii=False) + "\n")
    return count


def _parsed(path: Path, number: int, line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        said = json_in_words(error)
        raise UsageError(f"{path}, line {number}: the line is not valid JSON: {said}.") from error
