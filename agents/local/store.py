"""Where model files live, and the proof that they are what the catalog says.

A file is hashed once; its size, modification time and hash are then remembered beside it, so
that starting does not read a gigabyte each time.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path

from platformdirs import user_cache_path
from pydantic import BaseModel, ConfigDict, ValidationError

from ..errors import CotuneError, UsageError
from .catalog import LocalModel, get_model

FOLDER_VARIABLE = "COTUNE_MODEL_DIR"
FILE_VARIABLE = "COTUNE_MODEL_PATH"


class _Checked(BaseModel):
    """What was found when a file was last hashed."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    bytes: int
    mtime_ns: int
    sha256: str


def models_folder() -> Path:
    """Return the store: `COTUNE_MODEL_DIR`, or the user's cache folder."""
    chosen = os.environ.get(FOLDER_VARIABLE)
    return Path(chosen).expanduser() if chosen else user_cache_path("cotune") / "models"


def stored_path(model: LocalModel) -> Path:
    """Return where the model's file belongs in the store, present or not."""
    return models_folder() / model.file


def find_model(name: str) -> Path | None:
    """Return the model's file, or None when it has not been pulled.

    `COTUNE_MODEL_PATH` wins: that file is taken as it is, whatever it hashes to, because it is
    the person's own choice. A file in the store is verified.

    Raises:
        UsageError: The name is unknown, or `COTUNE_MODEL_PATH` names no file.
        CotuneError: The file in the store is not what the catalog says.
    """
    model = get_model(name)
    chosen = os.environ.get(FILE_VARIABLE)
    if chosen:
        return _existing(Path(chosen).expanduser())
    path = stored_path(model)
    if not path.is_file():
        return None
    verify(path, model)
    return path


def require_model(name: str) -> Path:
    """Return the model's file.

    Raises:
        UsageError: As `find_model`.
        CotuneError: As `find_model`, or the model has not been pulled.
    """
    path = find_model(name)
    if path is None:
        raise CotuneError(
            f"The model '{name}' is not on this computer ({stored_path(get_model(name))} is "
            f"missing). Run `cotune model pull {name}`, or set {FILE_VARIABLE} to a GGUF file."
        )
    return path


def weights_of(path: Path, model: LocalModel) -> str:
    """Return what identifies a model file: its hash, or size and time of a person's own file."""
    if path == stored_path(model):
        return model.sha256
    now = path.stat()
    return f"{path.name}, {now.st_size} bytes, {now.st_mtime_ns}"


def verify(path: Path, model: LocalModel) -> None:
    """Check a file against the catalog; quick when it has not changed since the last time.

    Raises:
        CotuneError: The file's hash is another.
    """
    found = _remembered(path) or _hash_and_remember(path)
    if found != model.sha256:
        raise CotuneError(
            f"{path} is damaged or is another file: its sha256 is {found} ({path.stat().st_size} "
            f"bytes), expected {model.sha256} ({model.bytes} bytes). Run "
            f"`cotune model pull {model.name} --force`."
        )


def adopt(complete: Path, sha256: str, model: LocalModel) -> Path:
    """Move a complete, hashed file into the store in one step, and remember its hash.

    Args:
        complete: The file, on the store's file system.
        sha256: What it was found to hash to.
        model: Whose file it is.

    Returns:
        Where the file is now.
    """
    path = stored_path(model)
    os.replace(complete, path)
    _remember(path, sha256)
    return path


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file's content, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _existing(path: Path) -> Path:
    if not path.is_file():
        raise UsageError(
            f"{FILE_VARIABLE} is set to {path}, which is not a file. Set it to a GGUF file, or "
            "unset it to use the store."
        )
    return path


def _note(path: Path) -> Path:
    return path.with_name(f"{path.name}.checked.json")


def _remembered(path: Path) -> str | None:
    try:
        checked = _Checked.model_validate_json(_note(path).read_bytes())
    except (OSError, ValidationError):
        return None
    now = path.stat()
    unchanged = (checked.bytes, checked.mtime_ns) == (now.st_size, now.st_mtime_ns)
    return checked.sha256 if unchanged else None


def _hash_and_remember(path: Path) -> str:
    found = sha256_of(path)
    _remember(path, found)
    return found


def _remember(path: Path, sha256: str) -> None:
    now = path.stat()
    checked = _Checked(bytes=now.st_size, mtime_ns=now.st_mtime_ns, sha256=sha256)
    note = _note(path)
    draft = note.with_name(f"{note.name}.{os.getpid()}")
    with suppress(OSError):  # a read-only store works too; it is only hashed each time
        draft.write_text(checked.model_dump_json(), encoding="utf-8")
        os.replace(draft, note)
