"""A team's own code is found by its path, and its errors are told with file and field."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cotune.agents.adapters.imported import code_identity, imported
from cotune.agents.adapters.settings import ImportedSettings
from cotune.agents.errors import UsageError


@pytest.fixture(autouse=True)
def _as_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        del sys.modules[name]


def settings(folder: Path, path: str = "team_shop:found") -> ImportedSettings:
    return ImportedSettings(path=path, folder=folder)


def written(folder: Path, code: str, name: str = "team_shop") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.py").write_text(code, encoding="utf-8")
    return folder


def test_nested_attributes_are_found(tmp_path: Path) -> None:
    written(tmp_path, "class Shop:\n    class Inner:\n        found = 7\n")
    assert imported(settings(tmp_path, "team_shop:Shop.Inner.found")) == 7


def test_a_module_of_the_same_name_in_another_folder_is_another(tmp_path: Path) -> None:
    first, second = written(tmp_path / "a", "found = 1"), written(tmp_path / "b", "found = 2")
    assert (imported(settings(first)), imported(settings(second))) == (1, 2)
    assert imported(settings(first)) == 1


def test_a_module_that_is_already_imported_stays_what_it_is(tmp_path: Path) -> None:
    written(tmp_path, "found = object()")
    assert imported(settings(tmp_path)) is imported(settings(tmp_path))


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import no_such_thing", "ModuleNotFoundError: No module named 'no_such_thing'"),
        ("raise SystemExit('usage: shop')", "SystemExit: usage: shop"),
        ("other = 1", "has no 'found'"),
    ],
)
def test_what_cannot_be_imported_says_why(tmp_path: Path, code: str, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        imported(settings(written(tmp_path, code)))
    assert "team_shop:found" in str(refused.value)
    assert said in str(refused.value)


def test_the_identity_covers_imported_modules_of_the_folder_only(tmp_path: Path) -> None:
    written(tmp_path, "import team_tools\nfound = 1")
    written(tmp_path, "price = 1", "team_tools")
    written(tmp_path, "unused = 1", "team_notes")
    imported(settings(tmp_path))
    before = code_identity(settings(tmp_path))
    written(tmp_path, "unused = 2", "team_notes")
    assert code_identity(settings(tmp_path)) == before
    written(tmp_path, "price = 2", "team_tools")
    assert code_identity(settings(tmp_path)) != before
