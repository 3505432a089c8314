from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cotune.agents.errors import UsageError
from cotune.agents.local import store
from cotune.agents.local.catalog import catalog, get_model
from cotune.experiments.commands.model import app


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(store.FOLDER_VARIABLE, str(tmp_path))
    monkeypatch.delenv(store.FILE_VARIABLE, raising=False)
    return tmp_path


def test_list_tells_absent_from_damaged(folder: Path) -> None:
    (folder / get_model("qwen2.5-coder-0.5b").file).write_bytes(b"half")
    result = CliRunner().invoke(app, ["list", "--json"])
    states = {status["name"]: status["state"] for status in json.loads(result.output)}
    assert states == {"qwen2.5-coder-1.5b": "not pulled", "qwen2.5-coder-0.5b": "damaged"}


def test_the_table_shows_every_model_and_its_licence() -> None:
    output = CliRunner().invoke(app, ["list"]).output
    assert all(name in output for name in catalog())
    assert "Apache-2.0" in output


@pytest.mark.parametrize("command", ["pull", "serve", "test"])
def test_an_unknown_model_is_a_usage_error(command: str) -> None:
    result = CliRunner().invoke(app, [command, "gpt"])
    assert isinstance(result.exception, UsageError)
