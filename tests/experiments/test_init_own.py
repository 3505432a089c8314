"""From `cotune init` to a held-out result, for a small shop in each framework.

Models are behind a local endpoint. They do what their prompts say: the sales assistant looks
products up only when its prompt holds the rubric's rule for that.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from cotune.experiments.config import load_config
from cotune.experiments.own_start import FOLDER, FRAMEWORKS
from cotune.rubrics.rubric_file import load_rubric
from cotune.rubrics.statistics import Conclusion
from cotune.simulation.scenario import ItemErrand
from cotune.simulation.scenario_file import load_scenarios

from ..agents.adapters.endpoint import Answer, Endpoint, Request, calls, endpoint, says
from ..forked_commands import Commands
from .command_line import Said, cotune, edit, record

RULE = "look the product up with find_products"
KNOWN = ("rye bread", "oat milk")
"""What is looked up under any prompt, so that not all differences are alike."""
SCENARIOS = load_scenarios(FOLDER / "scenarios.yaml")
PRODUCTS = [each.item for one in SCENARIOS for each in one.errands if isinstance(each, ItemErrand)]
PROMISE = "Of course, we have all you could wish for."
DSPY_FIELDS = re.compile(r"Your output fields are:\n(.*?)\n\S*All interactions", re.DOTALL)


def respond(request: Request) -> Answer:
    if fields := DSPY_FIELDS.search(request.system):
        return _in_fields(request, re.findall(r"^\d+\. `(\w+)`", fields[1], re.MULTILINE))
    if "find_products" in request.tools:
        return _sells(request)
    hand_over = [tool for tool in request.tools if tool.startswith(("transfer", "ask"))]
    if not hand_over:
        return says(request.last)
    if request.results:
        return says(request.results[-1])
    arguments = {
        "ask_search": {"wish": request.last},
        "transfer_to_agent": {"agent_name": "search"},
    }
    return calls(hand_over[0], **arguments.get(hand_over[0], {}))


def _sells(request: Request) -> Answer:
    looked_up = "find_products" in str([m for m in request.messages if m["role"] == "assistant"])
    found = [result for result in request.results if "price" in result]
    if found:
        return says(f"We have {found[-1]}")
    if _looks_up(request) and not looked_up:
        return calls("find_products", query=_wish(request))
    return says(PROMISE)


def _wish(request: Request) -> str:
    """Return what the customer wants, wherever a framework puts their words."""
    said = str([m["content"] for m in request.messages if m["role"] == "user"])
    return next((each for each in PRODUCTS if each in said), request.last)


def _looks_up(request: Request) -> bool:
    return RULE in request.system or _wish(request) in KNOWN


def _in_fields(request: Request, fields: list[str]) -> Answer:
    """Answer as DSPy wants it, with a mark before each output."""
    wish, found = _wish(request), "price" in request.last
    look_up = _looks_up(request) and not found
    values = {
        "wish": wish,
        "next_tool_name": "find_products" if look_up else "finish",
        "next_tool_args": f'{{"query": "{wish}"}}' if look_up else "{}",
        "answer": f"We have {wish}." if found else PROMISE,
    }
    marked = [f"[[ ## {name} ## ]]\n{values.get(name, 'I see.')}" for name in fields]
    return says("\n\n".join([*marked, "[[ ## completed ## ]]"]))


@pytest.fixture(autouse=True)
def _installed_packages_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the repository's root off the path: there `agents` is ours, not OpenAI's SDK."""
    root = Path(__file__).resolve().parents[2]
    monkeypatch.setattr(sys, "path", [at for at in sys.path if Path(at).resolve() != root])


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    with endpoint(respond) as found:
        monkeypatch.setenv("OPENAI_BASE_URL", found.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        yield found


def started(folder: Path, framework: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a folder, and go there."""
    said = fine(cotune("init", folder, "--from", framework))
    assert f"cd {folder}" in said.out
    monkeypatch.chdir(folder)
    return folder / "cotune.yaml"


def fine(said: Said) -> Said:
    assert said.code == 0, said.out + said.err
    return said


def gets_to_a_held_out_result(config: Path, tables: Path, forked: Commands) -> None:
    """Go there in processes of their own: clients of models are kept for one event loop."""

    def typed(*words: str) -> str:
        code, said = forked.run(
            config.parent / "said.txt",
            words=[*words, "--config", config.name],
            folder=str(config.parent),
            environment=dict(os.environ),
        )
        assert code == 0, said
        return " ".join(said.split())

    shutil.copy(tables, config.parent / "mlflow.db")
    assert "0 problems" in typed("doctor")
    typed("optimize", "system", "--no-mlflow", "--yes")
    one = record(config.parent / "cotune-runs")
    assert one.held_out is not None
    assert one.held_out.examples == 5
    assert one.held_out.conclusion is Conclusion.IMPROVED
    assert one.held_out.overall.winner == 1.0


@pytest.mark.parametrize("framework", [each for each in FRAMEWORKS if each != "http"])
def test_a_shop_gets_to_a_held_out_result(
    framework: str,
    tmp_path: Path,
    served: Endpoint,
    mlflow_tables: Path,
    forked: Commands,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config = started(tmp_path / "mine", framework, monkeypatch)
    gets_to_a_held_out_result(config, mlflow_tables, forked)


def test_a_service_gets_to_a_held_out_result(
    tmp_path: Path,
    served: Endpoint,
    mlflow_tables: Path,
    forked: Commands,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config = started(tmp_path / "mine", "http", monkeypatch)
    monkeypatch.setenv("SHOP_PORT", "0")
    command = [sys.executable, "shop.py"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as service:
        try:
            assert service.stdout is not None
            url = service.stdout.readline().strip()
            edit(config, assistant={"kind": "http", "url": url})
            gets_to_a_held_out_result(config, mlflow_tables, forked)
        finally:
            service.kill()


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_what_is_written_is_sound(
    framework: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = load_config(started(tmp_path / "mine", framework, monkeypatch))
    assert config.assistant.kind == framework
    rubric = load_rubric(config.system.rubric)
    assert rubric.criterion("shows_what_was_asked").rules
    assert len(config.system.load_splits(config.simulation.scenarios).test) == 5
    fine(cotune("rubric", "validate", "rubric.yaml"))


def test_every_setting_in_a_comment_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = started(tmp_path / "mine", "function", monkeypatch)
    path.write_text(re.sub(r"(?m)^( *)# (?=(?:  )?\w+:)", r"\1", path.read_text()))
    config = load_config(path)
    assert config.limits.usd == 5.0
    assert config.models.judge is not None
    assert config.models.reflection is not None


MINE = """
from agents import Agent
helper = Agent(name="helper", instructions="Help.")
desk = Agent(name="desk", instructions="Hand over.", handoffs=[helper])
"""


def test_an_assistant_that_is_there_is_pointed_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "support_desk.py").write_text(MINE)
    path = "support_desk:desk"
    fine(cotune("init", "eval", "--from", "openai-agents", "--path", path))
    assert not (tmp_path / "eval" / "shop.py").exists()
    config = load_config(tmp_path / "eval" / "cotune.yaml")
    assert yaml.safe_load((tmp_path / "eval" / "cotune.yaml").read_text())["assistant"] == {
        "kind": "openai-agents", "path": path, "folder": "..",
    }  # fmt: skip
    criterion = load_rubric(config.system.rubric).criterion("shows_what_was_asked")
    assert criterion.agents == ("desk", "helper")
    assert not criterion.rules


def test_a_function_that_is_there_is_asked_for_its_prompts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "support_chat.py").write_text("def reply(message, prompts, session): return 'Yes.'")
    said = fine(cotune("init", "eval", "--from", "function", "--path", "support_chat:reply"))
    assert "one AGENT.md each" in said.words
    assert list((tmp_path / "eval" / "prompts").iterdir()) == []
    config = load_config(tmp_path / "eval" / "cotune.yaml")
    assert load_rubric(config.system.rubric).criterion("short").agents == ()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--from", "smalltalk"), "known are function, dspy"),
        (("--path", "a:b"), "say its framework with --from"),
        (("--from", "function", "--path", "no dots"), "Give module:attribute"),
        (("--from", "function", "--path", "nowhere:reply"), "nowhere"),
        (("--from", "http", "--path", "shop:reply"), "for http a URL"),
    ],
)
def test_what_cannot_be_is_said(
    words: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    refused = cotune("init", "eval", *words)
    assert refused.code == 2
    assert said in refused.err
    assert not (tmp_path / "eval").exists()


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    mine = tmp_path / "checks.py"
    mine.write_text("mine")
    refused = cotune("init", tmp_path, "--from", "dspy")
    assert refused.code == 2
    assert refused.err.startswith(f"cotune: {mine} exists already")
    assert [path.name for path in tmp_path.iterdir()] == ["checks.py"]
    assert mine.read_text() == "mine"
