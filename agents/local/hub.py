"""Model files from their publisher's repository on the Hugging Face hub."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from .catalog import HubFile, LocalModel
from .sources import Download, Progress, SourceError
from .store import sha256_of

PROBE_SECONDS = 5.0
"""How long the hub may take to say that it has the file; a closed network fails this soon."""


def from_hub(
    model: LocalModel,
    folder: Path,
    progress: Progress,
    download: Callable[[HubFile, Path], Path] | None = None,
) -> Download:
    """Download the model's file from the hub.

    Args:
        model: Which model.
        folder: Where to put the file; kept after a failure.
        progress: Told the bytes that have arrived, twice a second.
        download: How a file of the hub gets into a folder; `huggingface_hub` by default.

    Raises:
        SourceError: The hub cannot be reached or does not have the file.
    """
    target = folder / "hub"
    target.mkdir(parents=True, exist_ok=True)
    with _watched(target, model.bytes, progress):
        path = (download or hub_download)(model.hub, target)
    progress(model.bytes, model.bytes, "checking the sha256")
    return Download(path, sha256_of(path))


def hub_download(file: HubFile, folder: Path) -> Path:
    """Download with `huggingface_hub`, without anybody's token.

    Raises:
        SourceError: The library is missing or could not get the file.
    """
    try:
        from huggingface_hub import (  # noqa: PLC0415 - optional
            get_hf_file_metadata,
            hf_hub_download,
            hf_hub_url,
        )
        from huggingface_hub.utils import disable_progress_bars  # noqa: PLC0415 - optional
    except ImportError as error:
        raise SourceError("huggingface_hub is missing; `pip install 'cotune[local]'`") from error
    disable_progress_bars()
    try:
        # Asked first because the library's own download retries for minutes before it gives up.
        url = hf_hub_url(file.repository, file.file)
        get_hf_file_metadata(url, timeout=PROBE_SECONDS, token=False)
        return Path(hf_hub_download(file.repository, file.file, local_dir=folder, token=False))
    except Exception as error:  # the library documents no closed set of errors
        raise SourceError(f"{file.repository}: {type(error).__name__}: {error}") from error


@contextmanager
def _watched(folder: Path, total: int, progress: Progress) -> Iterator[None]:
    """Report the size of what is in `folder` while the body runs.

    The library's own hook differs between its transfer methods; files on disk do not.
    """
    finished = threading.Event()

    def watch() -> None:
        while not finished.wait(0.5):
            progress(min(_size(folder), total), total, "downloading from the Hugging Face hub")

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        finished.set()
        watcher.join()


def _size(folder: Path) -> int:
    sizes = []
    for path in folder.rglob("*"):
        try:
            sizes.append(path.stat().st_size if path.is_file() else 0)
        except FileNotFoundError:  # renamed while we looked
            continue
    return sum(sizes)
