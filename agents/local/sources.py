"""What a source of model files is; the sources themselves are `hub` and `wheels`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ..errors import CotuneError
from .catalog import LocalModel


class Progress(Protocol):
    """Told how far a download is; the command line draws it."""

    def __call__(self, done_bytes: int, total_bytes: int, what: str) -> None:
        """Show that `done_bytes` of `total_bytes` are here, and `what` is being done."""


class SourceError(CotuneError):
    """A source cannot give the file; the next one is tried."""


@dataclass(frozen=True, slots=True)
class Download:
    """A complete file that nobody has vouched for yet.

    Attributes:
        path: The file, on the store's file system.
        sha256: What it hashes to.
    """

    path: Path
    sha256: str


@dataclass(frozen=True, slots=True)
class Source:
    """One way to get a model's file.

    Attributes:
        name: For messages, such as `the Hugging Face hub`.
        fetch: Downloads the model's file into a folder that survives an interruption, so that
            the next try can go on from there; raises `SourceError` when it cannot.
    """

    name: str
    fetch: Callable[[LocalModel, Path, Progress], Download]
