"""Assistants of one's own, from the command line to a held-out result."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ..agents.adapters.endpoint import Answer, Request, endpoint, fails, says
from ..agents.adapters.node_shop import SERVER, node_shop
from .command_line import cotune, record, run_folder
from .own_assistant import write_project

_PRODUCTS = ("oat milk", "rye bread", "dark chocolate")


def model(request: Request) -> Answer:
    """A model that names prices only where its prompt says so."""
    if request.system.startswith(("Name the product", "Answer with the name")):
        said = next(product for product in _PRODUCTS if product in request.last)
    else:
        told = "in euros" in request.system
        said = "It costs 1.95 euros." if told else "Yes, we have that."
    return says(json.dumps({"answer": said}) if "response_format" in request.body else said)


def _function(folder: Path, url: str) -> Path:
    assistant = {"kind": "function", "path": "my_shop:reply"}
    task = {"model": "openai/any", "api_base": url, "concurrency": 8, "attempts": 1}
    return write_project(folder, assistant, models={"task": task})


def test_conversations_with_a_function(tmp_path: Path) -> None:
    with endpoint(model) as served:
        config = _function(tmp_path, served.url)
        said = cotune("simulate", "--config", config, "--n", 6, "--json")
    assert said.code == 0, said.err
    summary = json.loads(said.out)
    lines = (run_folder(tmp_path / "cotune-runs") / "trajectories.jsonl").read_text().splitlines()
    assert len(lines) == 6
    calls = json.loads(lines[0])["turns"][0]["reply"]["calls"]
    assert [call.get("tool") or call["agent"] for call in calls] == [
        "concierge",
        "find_products",
        "search",
        "search",
    ]
    assert summary


def test_a_function_is_improved_and_tested_on_held_out_scenarios(tmp_path: Path) -> None:
    with endpoint(model) as served:
        config = _function(tmp_path, served.url)
        said = cotune("optimize", "system", "--config", config, "--no-track")
    assert said.code == 0, said.err
    result = record(tmp_path / "cotune-runs")
    assert result.model_dump(mode="json")
    won = run_folder(tmp_path / "cotune-runs") / "prompts" / "search.md"
    assert "Always name the price in euros." in won.read_text()


def test_a_service_is_improved(tmp_path: Path) -> None:
    with endpoint(model) as served, node_shop(served.url) as url:
        config = write_project(tmp_path, {"kind": "http", "url": url})
        checked = cotune("adapter", "check", url, "--message", "Have you oat milk?", "--json")
        said = cotune("optimize", "system", "--config", config, "--no-track")
    assert checked.code == 0, checked.out
    assert {each["outcome"] for each in json.loads(checked.out)} == {"passed"}
    assert said.code == 0, said.err
    won = run_folder(tmp_path / "cotune-runs") / "prompts" / "search.md"
    assert "Always name the price in euros." in won.read_text()


def test_an_outage_is_told_and_no_score(tmp_path: Path) -> None:
    def down_in_conversations(request: Request) -> Answer:
        return fails(500) if "response_format" in request.body else says("Yes.")

    with endpoint(down_in_conversations) as served:
        config = _function(tmp_path, served.url)
        said = cotune("simulate", "--config", config, "--n", 2, "--json")
    assert said.code == 1
    assert "provider" in said.out
    lines = (run_folder(tmp_path / "cotune-runs") / "trajectories.jsonl").read_text()
    assert lines == ""


def test_a_function_that_is_not_there_is_told_with_its_folder(tmp_path: Path) -> None:
    config = write_project(tmp_path, {"kind": "function", "path": "my_shop:answer"})
    said = cotune("simulate", "--config", config)
    assert said.code == 2
    assert "has no 'answer'" in said.err
    assert str(tmp_path) in said.err


@pytest.mark.parametrize("kind", ["table", "json"])
def test_the_check_of_a_service_that_is_not_there_says_what_to_do(kind: str) -> None:
    words = ("--json",) if kind == "json" else ()
    said = cotune("adapter", "check", "http://127.0.0.1:9/v1", *words)
    assert said.code == 1
    assert "Start the service" in said.words


def test_an_address_that_is_none_is_refused() -> None:
    said = cotune("adapter", "check", "localhost:8000")
    assert said.code == 2
    assert "is not the base URL of a service" in said.err


def test_a_service_that_takes_no_prompts_is_found_out(tmp_path: Path) -> None:
    script = tmp_path / "server.mjs"
    own = "const prompt = PROMPTS[agent];"
    text = SERVER.read_text(encoding="utf-8")
    assert "const prompt = this.prompts[agent];" in text
    script.write_text(text.replace("const prompt = this.prompts[agent];", own), encoding="utf-8")
    with endpoint(model) as served, node_shop(served.url, script) as url:
        said = cotune("adapter", "check", url, "--message", "oat milk", "--json")
    assert said.code == 1
    (failed,) = (each for each in json.loads(said.out) if each["outcome"] == "failed")
    assert failed["check"] == "refuses prompts it has no agent for"
    assert "Take prompts from cotune.prompts only" in failed["remedy"]
