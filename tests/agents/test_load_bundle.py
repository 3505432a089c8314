"""What production needs: prompts from a folder, a run or a file, and next to no imports."""

from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cotune.agents import load_bundle
from cotune.agents.bundle_json import bundle_json
from cotune.agents.errors import CotuneError, UsageError
from cotune.agents.grocery.assistant import GroceryAssistant
from cotune.agents.ledger import Ledger, Role
from cotune.agents.lm import LanguageModel
from cotune.agents.models import ModelSettings
from cotune.agents.prompts import Prompt, PromptBundle
from cotune.agents.registered_bundle import BUNDLE, RegisteredPrompt, assembled
from cotune.agents.registry_address import RegistryAddress

BUNDLE_OF_TWO = PromptBundle.of(
    Prompt("router", 'Say {"agent": "cart"} or so.', "Routes"), Prompt("search", "Wähle 🥦.")
)
WHERE = RegistryAddress("shop", "production")
_HEAVY = ("dspy", "gepa", "litellm", "mlflow", "pydantic", "numpy", "scipy", "httpx", "typer")


def test_the_loader_brings_nothing_heavy_along() -> None:
    code = (
        "import sys; from cotune.agents import load_bundle; "
        f"print([name for name in {_HEAVY!r} if name in sys.modules])"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"


def test_files_are_loaded_without_anything_heavy(tmp_path: Path) -> None:
    BUNDLE_OF_TWO.save(tmp_path / "prompts")
    (tmp_path / "prompts.json").write_text(bundle_json(BUNDLE_OF_TWO, {}))
    code = (
        "import sys; from cotune.agents import load_bundle; "
        "print(*(load_bundle(source)['router'].render() for source in sys.argv[1:]), sep='|'); "
        f"assert not [name for name in {_HEAVY!r} if name in sys.modules]"
    )
    sources = [str(tmp_path / name) for name in ("prompts", "prompts.json", "")]
    command = [sys.executable, "-c", code, *sources]
    said = subprocess.run(command, capture_output=True, text=True, check=True)
    assert said.stdout.strip().split("|") == [BUNDLE_OF_TWO["router"].text] * 3


def test_a_folder_a_run_and_a_file_hold_the_same_bundle(tmp_path: Path) -> None:
    run = tmp_path / "router-1"
    BUNDLE_OF_TWO.save(run / "prompts")
    (run / "result.json").write_text("{}")
    (tmp_path / "prompts.json").write_text(bundle_json(BUNDLE_OF_TWO, {"task": "shop"}))
    for source in (run, run / "prompts", str(run), tmp_path / "prompts.json"):
        loaded = load_bundle(source)
        assert loaded == BUNDLE_OF_TWO
        assert loaded["router"].description == "Routes"


@given(st.dictionaries(st.sampled_from("abc"), st.text(min_size=1).filter(str.strip), min_size=1))
def test_a_file_keeps_every_text_as_it_is(texts: Mapping[str, str]) -> None:
    bundle = PromptBundle.of(*(Prompt(agent, text) for agent, text in texts.items()))
    with TemporaryDirectory() as folder:
        path = Path(folder, "prompts.json")
        path.write_text(bundle_json(bundle, {}), encoding="utf-8")
        assert load_bundle(path).texts() == texts


def _replies(prompts: PromptBundle) -> list[str]:
    settings = ModelSettings(model="scripted:grocery")
    assistant = GroceryAssistant(LanguageModel(settings, Role.TASK, Ledger()))
    session = assistant.start(prompts, {}, 7)
    said = ("two organic butters please", "the first one", "thanks")
    return [asyncio.run(session.reply(each)).text for each in said]


def test_loaded_prompts_give_the_same_replies(tmp_path: Path) -> None:
    from cotune.experiments import benchmarks

    assert benchmarks.__file__ is not None
    shutil.copytree(Path(benchmarks.__file__).parent / "good_prompts", tmp_path / "prompts")
    bundle = PromptBundle.load(tmp_path / "prompts")
    (tmp_path / "prompts.json").write_text(bundle_json(bundle, {}), encoding="utf-8")
    replies = _replies(bundle)
    assert replies != _replies(bundle.with_texts(dict.fromkeys(bundle, "Answer.")))
    for source in ("prompts", "prompts.json"):
        assert _replies(load_bundle(tmp_path / source)) == replies


def test_nothing_at_a_place_says_what_could_be_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"nowhere.*AGENT\.md.*mlflow:TASK@ALIAS"):
        load_bundle(tmp_path / "nowhere")
    with pytest.raises(UsageError, match=r"no AGENT\.md"):
        load_bundle(tmp_path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "not valid JSON"),
        ("[1]", "found None"),
        ('{"metadata": {}}', "no file of prompts"),
        ('{"format": "cotune-prompts/9"}', "cotune-prompts/9"),
        ('{"format": "cotune-prompts/1", "prompts": {}}', "'prompts' must hold"),
        ('{"format": "cotune-prompts/1", "prompts": {"a": " "}}', "prompts.a"),
        ('{"format": "cotune-prompts/1", "prompts": {"a": {"text": " "}}}', "prompts.a"),
        ('{"format": "cotune-prompts/1", "prompts": {"a": {"text": "x", "description": 1}}}', "a"),
        ('{"format": "cotune-prompts/1", "prompts": {"a": {"text": "\\ud83d"}}}', "half of an"),
        ('{"format": "cotune-prompts/1", "prompts": {"../a": {"text": "x"}}}', "agent's name"),
    ],
)
def test_another_file_is_refused_by_name(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "prompts.json"
    path.write_text(content)
    with pytest.raises(UsageError, match=said) as caught:
        load_bundle(path)
    assert str(path) in str(caught.value)


def test_a_file_that_was_edited_is_refused_unless_it_says_so(tmp_path: Path) -> None:
    content = json.loads(bundle_json(BUNDLE_OF_TWO, {}))
    content["prompts"]["search"]["text"] = "Choose."
    path = tmp_path / "prompts.json"
    path.write_text(json.dumps(content))
    with pytest.raises(UsageError, match="changed after"):
        load_bundle(path)
    del content["bundle"]
    path.write_text(json.dumps(content))
    assert load_bundle(path)["search"].text == "Choose."


@pytest.mark.parametrize(
    "address", ["mlflow:", "mlflow:shop", "mlflow:a b@c", "mlflow:a@", "mlflow:a@b'"]
)
def test_an_address_of_another_form_is_refused(address: str) -> None:
    with pytest.raises(UsageError, match="mlflow:TASK@ALIAS"):
        load_bundle(address)


def _registered(bundle: PromptBundle, *agents: str) -> list[RegisteredPrompt]:
    return [
        RegisteredPrompt(
            f"cotune-shop-{agent}", agent, 1, bundle[agent].text, {BUNDLE: bundle.fingerprint}
        )
        for agent in agents
    ]


def test_prompts_of_one_bundle_are_put_together() -> None:
    assert assembled(_registered(BUNDLE_OF_TWO, "router", "search"), WHERE) == BUNDLE_OF_TWO


def test_prompts_of_two_bundles_are_not_mixed() -> None:
    newer = BUNDLE_OF_TWO.with_texts({"router": "Route."})
    half = [*_registered(newer, "router"), *_registered(BUNDLE_OF_TWO, "search")]
    with pytest.raises(CotuneError, match="not one whole bundle") as caught:
        assembled(half, WHERE)
    assert f"router of {newer.fingerprint}" in str(caught.value)
    assert "cotune prompts rollback shop --alias production" in str(caught.value)


def test_a_bundle_that_lacks_an_agent_or_says_nothing_is_refused() -> None:
    with pytest.raises(CotuneError, match="not one whole bundle"):
        assembled(_registered(BUNDLE_OF_TWO, "router"), WHERE)
    untagged = RegisteredPrompt("cotune-shop-router", "router", 3, "Edited by hand.", {})
    with pytest.raises(CotuneError, match="router of none"):
        assembled([untagged], WHERE)
    with pytest.raises(UsageError, match="no prompt of the task 'shop'"):
        assembled([], WHERE)


def test_a_registry_that_is_not_there_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no MLflow database"):
        load_bundle("mlflow:shop@production", f"sqlite:///{tmp_path}/mlflow.db")
    assert not list(tmp_path.iterdir()), "looking must not make a database"
    with pytest.raises(CotuneError, match="cannot be used") as caught:
        load_bundle("mlflow:shop@production", "http://me:hunter2@127.0.0.1:9")
    assert "hunter2" not in str(caught.value)


def test_the_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE notes (text)")
    before = path.read_bytes()
    with pytest.raises(CotuneError, match="database of another program"):
        load_bundle("mlflow:shop@production", f"sqlite:///{path}")
    assert path.read_bytes() == before


def test_without_mlflow_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(UsageError, match="pip install mlflow"):
        load_bundle("mlflow:shop@production")
