"""A run's own folder, where its journal and its results are."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryFile

from ..agents.errors import CotuneError

JOURNAL = "journal.sqlite"


def make_writable(folder: Path) -> None:
    """Make a folder, and try that it can be written.

    Raises:
        CotuneError: It cannot.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):  # of no name, so that two processes can try at once
            pass
    except OSError as error:
        raise CotuneError(
            f"The run's folder {folder} cannot be written ({error.strerror}). Choose another with "
            "--out, or 'out' in the configuration."
        ) from error


def named_run(run: Path, out: Path) -> Path:
    """Return the folder of a run: `run` itself, or the folder of that name in `out`."""
    return run if run.is_dir() else out / run
