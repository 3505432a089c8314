"""A run's own folder, where its journal and its results are."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryFile

from ..agents.errors import CotuneError, UsageError
from .run_record import FILE_NAME

JOURNAL = "journal.sqlite"
LATEST = "latest"


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
    """Return the folder of a run: `run` itself, the folder of that name in `out`, or the latest.

    Args:
        run: A folder, a name, or `latest`: the run in `out` that ended last.
        out: The folder for runs.

    Raises:
        UsageError: `latest` is asked for, and no run has ended.
    """
    if run.is_dir():
        return run
    if str(run) != LATEST:
        return out / run
    ended = sorted(out.glob(f"*/{FILE_NAME}"), key=lambda path: path.stat().st_mtime)
    if not ended:
        raise UsageError(f"No run has ended in {out}, so that there is no latest one.")
    return ended[-1].parent
