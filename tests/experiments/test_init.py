"""What `cotune init` writes can be used as it is, and says nothing untrue."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from cotune.experiments.config import load_config
from cotune.rubrics.rubric_file import load_rubric

from .command_line import cotune, record


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    said = cotune("init", "mine")
    assert (said.code, said.err) == (0, "")
    return tmp_path / "mine"


@pytest.mark.parametrize("agent", ["router", "search", "selector"])
def test_each_agent_can_be_optimized_as_the_message_says(
    agent: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    command = "optimize agent router --config cotune.yaml --model scripted"
    said = cotune(*command.replace("router", agent).split(), "--no-mlflow")
    assert said.code == 0, said.err
    one = record(folder / "cotune-runs")
    assert one.task == agent
    assert one.held_out is None or one.held_out.examples >= 40


@pytest.mark.parametrize("name", ["cotune.yaml", "system.yaml"])
def test_it_is_sound(name: str, folder: Path) -> None:
    said = cotune("config", "check", folder / name)
    assert (said.code, said.err) == (0, "")
    assert said.out == f"{folder / name} is sound.\n"


def test_every_setting_in_a_comment_is_one(folder: Path) -> None:
    path = folder / "cotune.yaml"
    text = re.sub(r"(?m)^( *)# (?=  \w+:|\w+: |reflection:)", r"\1", path.read_text())
    assert yaml.safe_load(text)["models"]["reflection"]["max_tokens"] == 16000
    path.write_text(text)
    config = load_config(path)
    assert config.limits.usd == 2.0
    assert config.limits.tokens == 1_000_000
    assert config.models.task is not None
    assert config.models.task.api_key_env == "MY_KEY"
    assert config.models.reflection is not None


def test_paths_are_relative_to_the_file_and_a_rubric_is_a_pack_or_a_file(folder: Path) -> None:
    path = folder / "cotune.yaml"
    config = load_config(path)
    assert config.out == folder / "cotune-runs"
    assert config.prompts == folder / "prompts"
    assert load_rubric(config.agents["router"].rubric).id == "grocery_routing"
    path.write_text(path.read_text().replace(" grocery_routing ", " my-rubric.yaml "))
    assert load_config(path).agents["router"].rubric == str(folder / "my-rubric.yaml")


def test_it_is_not_written_twice(folder: Path) -> None:
    config = folder / "cotune.yaml"
    config.write_text("mine")
    said = cotune("init", folder)
    assert said.code == 2
    assert said.err.startswith(f"cotune: {config} exists already")
    assert config.read_text() == "mine"


@pytest.mark.parametrize("name", ["prompts", "examples"])
def test_what_a_person_has_is_not_overwritten(name: str, tmp_path: Path) -> None:
    mine = tmp_path / name / "router.md"
    mine.parent.mkdir()
    mine.write_text("mine")
    said = cotune("init", tmp_path)
    assert said.code == 2
    assert said.err.startswith(f"cotune: {mine.parent} exists already")
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert mine.read_text() == "mine"
