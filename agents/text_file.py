"""Reading text files that people wrote."""

from __future__ import annotations

from pathlib import Path

from .errors import UsageError


def read_text(path: Path, what: str) -> str:
    r"""Read a file in UTF-8, with or without a mark in front; every line ends in `\n`.

    Args:
        path: The file.
        what: What it should be, for messages: 'prompt', 'rubric'.

    Raises:
        UsageError: It cannot be read or is not UTF-8.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"Cannot read the {what} {path}: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"Cannot read the {what} {path}: it is not UTF-8 ({error}).") from error
