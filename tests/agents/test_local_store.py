from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest
from pydantic import ValidationError

from cotune.agents.errors import CotuneError, UsageError
from cotune.agents.local import store
from cotune.agents.local.catalog import LocalModel, catalog, get_model

NAME = "qwen2.5-coder-0.5b"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(store.FOLDER_VARIABLE, str(tmp_path))
    monkeypatch.delenv(store.FILE_VARIABLE, raising=False)
    return tmp_path


def a_model(content: bytes) -> LocalModel:
    sha256 = hashlib.sha256(content).hexdigest()
    return get_model(NAME).model_copy(update={"sha256": sha256, "bytes": len(content)})


def test_the_catalog_is_complete_and_its_hashes_are_distinct() -> None:
    models = list(catalog().values())
    hashes = [wheel.sha256 for model in models for wheel in model.wheels]
    hashes += [model.sha256 for model in models]
    assert [model.slots for model in models] == [2, 4]
    assert [len(model.wheels) for model in models] == [22, 6]
    assert len(set(hashes)) == len(hashes)


def test_a_file_name_of_the_catalog_cannot_leave_the_store() -> None:
    fields = get_model(NAME).model_dump() | {"file": "../elsewhere.gguf"}
    with pytest.raises(ValidationError, match="file"):
        LocalModel.model_validate(fields)


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(UsageError, match=NAME):
        store.find_model("gpt")


def test_a_model_that_was_not_pulled_is_none_or_an_error_with_the_remedy(folder: Path) -> None:
    assert store.find_model(NAME) is None
    with pytest.raises(CotuneError, match=f"cotune model pull {NAME}") as caught:
        store.require_model(NAME)
    assert str(folder) in str(caught.value)


def test_the_persons_own_file_wins_and_is_not_checked(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = folder / "own.gguf"
    own.write_bytes(b"mine")
    monkeypatch.setenv(store.FILE_VARIABLE, str(own))
    assert store.find_model(NAME) == own


def test_a_persons_own_file_that_is_missing_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(store.FILE_VARIABLE, str(folder / "gone.gguf"))
    with pytest.raises(UsageError, match=r"COTUNE_MODEL_PATH.*gone\.gguf"):
        store.find_model(NAME)


def test_a_truncated_file_is_an_error_with_both_hashes_and_the_remedy(folder: Path) -> None:
    path = folder / get_model(NAME).file
    path.write_bytes(b"half")
    with pytest.raises(CotuneError) as caught:
        store.find_model(NAME)
    for part in (str(path), store.sha256_of(path), get_model(NAME).sha256, f"{NAME} --force"):
        assert part in str(caught.value)


def test_an_unchanged_file_is_hashed_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, model = folder / "model.gguf", a_model(b"weights")
    path.write_bytes(b"weights")
    hashed: list[Path] = []
    real = store.sha256_of

    def counted(path: Path) -> str:
        hashed.append(path)
        return real(path)

    monkeypatch.setattr(store, "sha256_of", counted)
    store.verify(path, model)
    store.verify(path, model)
    assert hashed == [path]


def test_a_changed_file_of_the_same_size_is_noticed(folder: Path) -> None:
    path, model = folder / "model.gguf", a_model(b"weights")
    path.write_bytes(b"weights")
    store.verify(path, model)
    before = path.stat()
    path.write_bytes(b"WEIGHTS")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    with pytest.raises(CotuneError, match="damaged"):
        store.verify(path, model)


def test_a_damaged_note_is_ignored(folder: Path) -> None:
    path, model = folder / "model.gguf", a_model(b"weights")
    path.write_bytes(b"weights")
    note = path.with_name("model.gguf.checked.json")
    note.write_text("{", encoding="utf-8")
    store.verify(path, model)
    assert model.sha256 in note.read_text(encoding="utf-8")


def test_a_store_that_cannot_be_written_is_only_slower(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, model = folder / "model.gguf", a_model(b"weights")
    path.write_bytes(b"weights")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError("read-only")

    monkeypatch.setattr(Path, "write_text", refuse)
    store.verify(path, model)
    assert list(folder.iterdir()) == [path]
