"""Every mistake is one paragraph and an exit code, never a traceback, and loses nothing."""

from __future__ import annotations

import errno
import socket
from pathlib import Path
from typing import Any

import pytest

from cotune.agents.local.catalog import get_model
from cotune.agents.local.server import LocalServer
from cotune.agents.local.store import FILE_VARIABLE, FOLDER_VARIABLE
from cotune.experiments.run_record import RunRecord

from .command_line import Said, cotune, edit, endpoint, journaled, record, run_folder, start

OFFLINE = ("--model", "scripted", "--no-mlflow")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    cotune("init", "mine")
    return tmp_path / "mine"


@pytest.fixture
def config(folder: Path) -> Path:
    return folder / "cotune.yaml"


def optimize(config: Path, *options: object, agent: str = "router") -> Said:
    return cotune("optimize", "agent", agent, "--config", config, *options)


def assert_refused(said: Said, code: int, *parts: object) -> None:
    """Assert one paragraph on standard error that holds all parts."""
    assert said.code == code, said.err
    assert said.err.startswith("cotune: ")
    assert said.err.count("\n") == 1
    assert "Traceback" not in said.err + said.out
    for part in parts:
        assert str(part) in said.err


def assert_nothing_begun(config: Path) -> None:
    assert not (config.parent / "cotune-runs").exists()


def test_unknown_agent(config: Path) -> None:
    said = optimize(config, *OFFLINE, agent="ruoter")
    assert_refused(said, 2, "no agent 'ruoter'", "It has: briefer, ")
    assert_nothing_begun(config)


def test_an_agent_the_configuration_does_not_name(config: Path) -> None:
    said = optimize(config, *OFFLINE, agent="cart")
    assert_refused(said, 2, "no agent 'cart' under 'agents'", "router, search, selector")
    assert_nothing_begun(config)


@pytest.mark.parametrize(
    ("before", "after", "parts"),
    [
        ("models:", "models: [", ("not valid YAML", "line ")),
        ("seed: 0", "sede: 0", ("sede", "Line ", "seed")),
        ("rollouts: 398", "rollouts: many", ("limits.rollouts", "Line ", "many")),
        ("proposer: lessons ", "proposer: reflection ", ("models.reflection", "lessons")),
        ("rollouts: 398", "rollouts: 200", ("limits.rollouts is 200", "at least")),
        ("grocery_routing", "grocery_ruoting", ("grocery_ruoting", "grocery_routing")),
        ("examples/routing", "examples/ruoting", ("examples/ruoting", "does not exist")),
        ("prompts: prompts", "prompts: promtps", ("promtps", "AGENT.md")),
    ],
)
def test_a_wrong_configuration(
    before: str, after: str, parts: tuple[str, ...], config: Path
) -> None:
    text = config.read_text()
    assert before in text
    config.write_text(text.replace(before, after, 1))
    assert_refused(optimize(config, *OFFLINE), 2, *parts)
    assert_nothing_begun(config)


def test_no_configuration(folder: Path) -> None:
    missing = folder / "cotnue.yaml"
    for said in (optimize(missing, *OFFLINE), cotune("config", "check", missing)):
        assert_refused(said, 2, missing, "No such file")


def test_no_test_split(config: Path) -> None:
    path = config.parent / "examples" / "routing" / "test.jsonl"
    path.write_text("")
    assert_refused(optimize(config, *OFFLINE), 2, "test split is empty")
    path.unlink()
    assert_refused(optimize(config, *OFFLINE), 2, path, "missing")
    assert_nothing_begun(config)


def test_a_broken_example(config: Path) -> None:
    path = config.parent / "examples" / "routing" / "val.jsonl"
    path.write_text(path.read_text() + '{"id": "x"')
    line = path.read_text().count("\n") + 1
    assert_refused(optimize(config, *OFFLINE), 2, path, line)
    assert_nothing_begun(config)


def test_a_placeholder_without_a_value(config: Path) -> None:
    prompt = config.parent / "prompts" / "router.md"
    prompt.write_text(prompt.read_text() + "You work for {{ shop }}.\n")
    assert_refused(optimize(config, *OFFLINE), 2, prompt, "{{ shop }}", "no value")
    assert_nothing_begun(config)


def test_no_prompt_for_the_agent(config: Path) -> None:
    (config.parent / "prompts" / "router.md").unlink()
    assert_refused(optimize(config, *OFFLINE), 2, "no router.md", "selector")
    assert_nothing_begun(config)


def test_an_endpoint_that_is_down(config: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
        said = optimize(config, "--model", "openai/x", "--api-base", address, "--no-mlflow")
    assert_refused(said, 1, "openai/x", address, "does not answer", "No rollout was started")


def test_a_wrong_key(config: Path) -> None:
    answer = {"error": {"message": "Incorrect API key provided", "type": "invalid_request_error"}}
    with endpoint(401, answer) as served:
        base = served.api_base
        said = optimize(config, "--model", "openai/x", "--api-base", base, "--no-mlflow")
    assert_refused(said, 1, "openai/x", "refused the key", "api_key_env")
    assert served.requests == 1


def test_a_key_that_is_not_set(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MY_KEY", raising=False)
    edit(config, models={"task": {"model": "openai/x", "api_key_env": "MY_KEY"}})
    assert_refused(optimize(config, "--no-mlflow"), 2, "MY_KEY", "not set")


@pytest.mark.parametrize("model", ["nonsense", "no-such-provider/x", "scripted:bakery", ""])
def test_an_unknown_model(model: str, config: Path) -> None:
    said = optimize(config, "--model", model, "--no-mlflow")
    assert said.code in (1, 2)
    assert_refused(said, said.code, f"'{model}'")


def test_a_model_that_is_known_not_to_exist_leaves_no_folder(config: Path) -> None:
    for model in ("scripted:bakery", "local:gpt"):
        assert optimize(config, "--model", model, "--no-mlflow").code != 0
        assert_nothing_begun(config)


def test_no_limit_to_the_rollouts(config: Path) -> None:
    edit(config, limits={"usd": 1.0})
    said = optimize(config, *OFFLINE)
    assert_refused(said, 2, config, "no limits.rollouts", "Add 'limits: {rollouts: ")
    assert_nothing_begun(config)


def test_an_unknown_embedded_model(config: Path) -> None:
    said = optimize(config, "--model", "local:gpt", "--no-mlflow")
    assert_refused(said, 2, "'gpt'", "qwen2.5-coder-1.5b")


def test_an_unwritable_folder(config: Path, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    below = file / "runs"
    assert_refused(optimize(config, *OFFLINE, "--out", below), 1, below, "cannot be written")
    assert_refused(cotune("init", below), 1, below, "cannot be written")


@pytest.mark.parametrize("command", ["quickstart", "optimize"])
def test_a_damaged_model_file(
    command: str, config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = get_model("qwen2.5-coder-1.5b")
    file = tmp_path / "models" / model.file
    file.parent.mkdir()
    file.write_bytes(b"half of it")
    monkeypatch.setenv(FOLDER_VARIABLE, str(file.parent))
    monkeypatch.delenv(FILE_VARIABLE, raising=False)
    monkeypatch.setattr(LocalServer, "start", _must_not)
    typed = ("quickstart",) if command == "quickstart" else _typed(config)
    said = cotune(*typed, "--no-mlflow")
    assert_refused(said, 1, file, "damaged", f"cotune model pull {model.name} --force")
    assert file.read_bytes() == b"half of it"


def test_a_damaged_journal(config: Path) -> None:
    optimize(config, *OFFLINE)
    folder = run_folder(config.parent / "cotune-runs")
    kept = (folder / "result.json").read_text()
    (folder / "journal.sqlite").write_bytes(b"not a journal at all" * 500)
    said = optimize(config, *OFFLINE)
    assert_refused(said, 1, folder / "journal.sqlite", "cannot be used")
    assert (folder / "result.json").read_text() == kept


@pytest.mark.parametrize("uri", ["sqlite:///{file}/mlflow.db", "nonsense://x"])
def test_mlflow_that_cannot_be_used(uri: str, config: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    edit(config, tracking={"uri": uri.format(file=tmp_path / "file")})
    said = optimize(config, "--model", "scripted")
    assert_refused(said, 1, "MLflow at", "tracking.uri", "--no-mlflow")
    assert journaled(config.parent / "cotune-runs") == 0
    assert optimize(config, *OFFLINE).code == 0


def test_tokens_that_end_before_the_seed_is_scored(config: Path) -> None:
    edit(config, limits={"rollouts": 334, "tokens": 400})
    assert_refused(optimize(config, *OFFLINE), 1, "of 400 tokens", "limits", "goes on")
    runs = config.parent / "cotune-runs"
    kept = journaled(runs)
    assert kept > 0
    edit(config, limits={"rollouts": 334})
    assert optimize(config, *OFFLINE).code == 0
    assert record(runs).invocation.replayed == kept


def test_a_full_disk_loses_nothing(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(RunRecord, "save", _disk_is_full)
        said = optimize(config, *OFFLINE)
    assert_refused(said, 1, "No space left", "journal")
    runs = config.parent / "cotune-runs"
    paid = journaled(runs)
    assert paid > 0
    assert optimize(config, *OFFLINE).code == 0
    assert record(runs).invocation.replayed == paid


def test_a_reader_that_leaves_early_gets_no_traceback(config: Path) -> None:
    with start(*_typed(config), *OFFLINE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == ""


def _typed(config: Path) -> tuple[object, ...]:
    return ("optimize", "agent", "router", "--config", config)


def _must_not(*arguments: Any) -> None:
    raise AssertionError("must not be reached")


def _disk_is_full(*arguments: Any) -> None:
    raise OSError(errno.ENOSPC, "No space left on device", "result.json")
