"""A run's prompts as files, and what is refused or said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import dspy
import pytest

from cotune.agents import load_bundle
from cotune.agents.prompts import Prompt, PromptBundle
from cotune.experiments.prompt_export import winner_of
from cotune.experiments.run_record import RunRecord

from .command_line import cotune
from .shipped import bundle, less_safe, not_improved, saved, shipped

PROMPTS = bundle("well")


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / "cotune-runs"


@pytest.fixture
def found(record: RunRecord) -> RunRecord:
    return shipped(record, PROMPTS, "sqlite:///mlflow.db")


def test_a_folder_and_a_file_are_loaded_again(found: RunRecord, runs: Path) -> None:
    name = saved(found, runs)
    for form, target in (("folder", "prompts"), ("json", "prompts.json")):
        said = cotune("prompts", "export", name, "--to", form)
        assert said.code == 0, said.err
        assert f"Wrote 2 prompts to {target}: bundle {PROMPTS.fingerprint}" in said.out
        assert "not found fit" not in said.out
        assert load_bundle(target) == PROMPTS
    content = json.loads(Path("prompts.json").read_text())
    assert content["run"] == name
    assert content["conclusion"] == "improved"
    assert content["deployable"] is True
    assert content["said"].startswith("Improved: on 40 unseen examples")


def test_a_dspy_program_loads_what_was_exported(found: RunRecord, runs: Path) -> None:
    said = cotune(
        "prompts", "export", runs / saved(found, runs), "--to", "dspy", "--out", "a/b.json"
    )
    assert said.code == 0, said.err

    class Shop(dspy.Module):
        def __init__(self) -> None:
            super().__init__()
            self.router = dspy.Predict("message -> agent")
            self.search = dspy.Predict("message -> query")

    program = Shop()
    program.load("a/b.json")
    for agent in ("router", "search"):
        signature: Any = getattr(program, agent).signature
        assert signature.instructions == PROMPTS[agent].text


def test_the_program_that_was_tuned_loads_it_with_its_own_names(
    record: RunRecord, runs: Path, tmp_path: Path
) -> None:
    (tmp_path / "exported_shop.py").write_text(
        "import dspy\n"
        "class Shop(dspy.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.steps = [dspy.Predict('message -> reply')]\n"
    )
    path = "exported_shop:Shop"
    assistant = {"kind": "dspy", "path": path, "folder": str(tmp_path)}
    found = shipped(record, PromptBundle.of(Prompt("steps.0", "Be brief.")), "sqlite:///mlflow.db")
    found = found.model_copy(update={"config": {**found.config, "assistant": assistant}})
    said = cotune("prompts", "export", saved(found, runs), "--to", "dspy")
    assert said.code == 0, said.err
    state = json.loads(Path("prompts-dspy.json").read_text())
    assert state["steps[0]"]["signature"]["instructions"] == "Be brief."


def test_nothing_is_overwritten_unless_forced(found: RunRecord, runs: Path) -> None:
    name = saved(found, runs)
    Path("prompts").mkdir()
    assert cotune("prompts", "export", name, "--to", "folder").code == 0, "an empty folder is free"
    Path("prompts/router.md").write_text("Mine.")
    again = cotune("prompts", "export", name, "--to", "folder")
    assert again.code == 2
    assert "--force" in again.err
    assert Path("prompts/router.md").read_text() == "Mine."
    assert cotune("prompts", "export", name, "--to", "folder", "--force").code == 0
    assert load_bundle("prompts") == PROMPTS
    Path("prompts/teller.md").write_text("Tell.")
    refused = cotune("prompts", "export", name, "--to", "folder", "--force")
    assert refused.code == 2
    assert "teller.md" in refused.err


def test_what_was_not_found_better_is_exported_with_a_warning(
    record: RunRecord, runs: Path
) -> None:
    for name, changes in (("worse", not_improved()), ("unsafe", less_safe(record))):
        found = shipped(record, PROMPTS, "sqlite:///mlflow.db", name=name, **changes)
        said = cotune("prompts", "export", saved(found, runs), "--to", "json", "--force")
        assert said.code == 0, said.err
        assert "These prompts were not found fit to be used." in said.words
        assert load_bundle("prompts.json") == PROMPTS


def test_texts_come_from_the_record_and_descriptions_from_the_folder(
    found: RunRecord, runs: Path
) -> None:
    folder = runs / saved(found, runs)
    PromptBundle.of(Prompt("router", "Edited since.", "Routes.")).save(folder / "prompts")
    winner = winner_of(found, folder)
    assert winner == PROMPTS
    assert winner["router"].description == "Routes."


def test_what_a_folder_cannot_keep_is_said(record: RunRecord, runs: Path) -> None:
    padded = PROMPTS.with_texts({"search": "Search.\n\n"})
    name = saved(shipped(record, padded, "sqlite:///mlflow.db"), runs)
    assert "search.md" in cotune("prompts", "export", name, "--to", "folder").err
    assert cotune("prompts", "export", name, "--to", "json").err == ""
    assert load_bundle("prompts.json") == padded


def test_line_ends_that_a_folder_cannot_keep_are_said(record: RunRecord, runs: Path) -> None:
    name = saved(shipped(record, PROMPTS.with_texts({"search": "A.\r\nB."}), ""), runs)
    assert "every line ends alike" in cotune("prompts", "export", name, "--to", "folder").err


def test_nothing_is_written_outside_of_the_folder(record: RunRecord, runs: Path) -> None:
    name = saved(shipped(record, PROMPTS, ""), runs)
    path = runs / name / "result.json"
    path.write_text(path.read_text().replace('"search"', '"../search"'))
    said = cotune("prompts", "export", name, "--to", "folder", "--out", "kept")
    assert said.code == 2
    assert "'../search' cannot be an agent's name" in said.err
    assert not Path("search.md").exists()
    assert not Path("kept").exists()


def test_options_that_do_not_go_together_are_refused(found: RunRecord, runs: Path) -> None:
    name = saved(found, runs)
    for words in (
        ("--to", "mlflow", "--out", "x"),
        ("--to", "json", "--uri", "sqlite:///x.db"),
        ("--to", "yaml"),
    ):
        said = cotune("prompts", "export", name, *words)
        assert said.code == 2, words
    assert cotune("prompts", "export", "nothing", "--to", "json").code == 2
