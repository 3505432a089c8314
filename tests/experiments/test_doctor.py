"""`cotune doctor` on a small assistant of two agents, with one mistake planted at a time."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from ..agents.adapters.endpoint import Answer, Endpoint, Request, endpoint, fails, says
from .command_line import Said, cotune

SHOP = """
import os
from pathlib import Path
from openai import AsyncOpenAI
from cotune.agents.recording import agent_call, tool_call

async def ask(system, *messages):
    said = [{"role": "system", "content": system}, *messages]
    url = os.environ["SHOP_URL"]
    async with AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as client:
        answer = await client.chat.completions.create(model="any", messages=said)
    return answer.choices[0].message.content

def user(text):
    return {"role": "user", "content": text}

async def reply(message, prompts, session):
    with agent_call("concierge", message=message) as call:
        wish = await ask(prompts["concierge"], user(message))
        call.returned(wish=wish)
    with agent_call("search", wish=wish) as call:
        found = ["oat milk"]
        tool_call("find", {"query": wish}, found)
        tool = {"role": "tool", "tool_call_id": "1", "content": str(found)}
        text = await ask(prompts["search"], user(wish), tool)
        call.returned(text=text)
    session.state["shown"] = found
    return text
"""
SCENARIOS = [
    {"id": f"{family}-{number}", "family": family, "goal": "Buy oat milk.",
     "errands": [{"id": "milk", "kind": "item", "item": "oat milk"}]}
    for family in "abcdef" for number in range(2)
]  # fmt: skip
CONFIG: dict[str, Any] = {
    "prompts": "prompts",
    "simulation": {
        "scenarios": "scenarios.yaml",
        "user": {"kind": "fixed", "messages": ["Have you oat milk?", "Thank you."]},
    },
    "system": {"rubric": "rubric.yaml"},
    "limits": {"rollouts": 200},
    "search": {"minibatch": 2},
}


def respond(request: Request) -> Answer:
    return says("We have oat milk.")


@pytest.fixture(autouse=True)
def _database(tmp_path: Path, mlflow_tables: Path) -> None:
    shutil.copy(mlflow_tables, tmp_path / "mlflow.db")


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    with endpoint(respond) as found:
        monkeypatch.setenv("SHOP_URL", found.url)
        yield found


def written(folder: Path, code: str = SHOP, **changes: Any) -> Path:
    """Write a shop as its owner would, in a module of its own name."""
    module = f"shop_{folder.name.replace('-', '_')}"
    (folder / f"{module}.py").write_text(code, encoding="utf-8")
    (folder / "prompts").mkdir()
    (folder / "prompts" / "concierge.md").write_text("Name the product.\n")
    (folder / "prompts" / "search.md").write_text("Say what there is.\n")
    (folder / "scenarios.yaml").write_text(yaml.safe_dump(SCENARIOS))
    (folder / "rubric.yaml").write_text(RUBRIC)
    tracking = {"uri": f"sqlite:///{folder}/mlflow.db"}
    assistant = {"kind": "function", "path": f"{module}:reply"}
    config = {"assistant": assistant, **CONFIG, "tracking": tracking, **changes}
    path = folder / "cotune.yaml"
    path.write_text(yaml.safe_dump(config, sort_keys=False))
    return path


RUBRIC = """
id: shop
name: Shop
description: What a shop should do.
subject: trajectory
domains:
  - {id: all, name: All, weight: 100}
criteria:
  - id: affordable
    name: Affordable
    domain: all
    points: 1
    passes: It costs no more than the customer has.
    fails: It costs more.
    check: {name: budget}
"""


def findings(said: Said) -> dict[str, dict[str, str]]:
    """Return the findings by what they are about, the worst of each."""
    order = ["fine", "skipped", "warning", "problem"]
    found: dict[str, dict[str, str]] = {}
    for each in sorted(json.loads(said.out), key=lambda one: order.index(one["level"])):
        found[each["about"]] = each
    return found


def examine(path: Path, *more: object) -> tuple[int, dict[str, dict[str, str]]]:
    said = cotune("doctor", "--config", path, "--json", *more)
    return said.code, findings(said)


def test_a_sound_assistant_has_no_problem(tmp_path: Path, served: Endpoint):
    code, found = examine(written(tmp_path))
    assert {each["about"]: each for each in found.values() if each["level"] == "problem"} == {}
    assert code == 0
    assert found["prompt search"]["level"] == "fine"
    assert found["tools"]["said"] == "On record: find."
    assert found["sessions"]["level"] == "fine"


REMEMBERED = SHOP.replace("async def reply", "KEPT = {}\n\nasync def reply")
PLANTED = {
    "not used": (
        SHOP.replace('prompts["search"]', '"Help."'), "prompt search", "its prompt was not sent"
    ),
    "read at import": (
        SHOP.replace('prompts["search"]', "TEXT").replace(
            "async def ask",
            'TEXT = (Path(__file__).parent / "prompts/search.md").read_text()\n\nasync def ask',
        ),
        "prompt search", "a change of it is not",
    ),
    "kept from the first call": (
        REMEMBERED.replace('prompts["search"]', 'KEPT.setdefault("s", prompts["search"])'),
        "prompt search", "a change of it is not",
    ),
    "shared history": (
        REMEMBERED.replace(
            "user(message))",
            'user(KEPT.setdefault("said", "") + message))\n        KEPT["said"] += message',
        ),
        "sessions", "sent to a model in another",
    ),
    "tool not recorded": (
        SHOP.replace('        tool_call("find", {"query": wish}, found)\n', ""),
        "tools", "no tool is on record",
    ),
}  # fmt: skip


@pytest.mark.parametrize("mistake", PLANTED)
def test_a_mistake_in_the_code_is_found(tmp_path: Path, served: Endpoint, mistake: str):
    code, about, said = PLANTED[mistake]
    assert code != SHOP
    status, found = examine(written(tmp_path, code))
    assert status == 1
    assert found[about]["level"] == "problem"
    assert said in found[about]["said"]
    assert found[about]["remedy"]
    others = {name for name, each in found.items() if each["level"] == "problem"} - {about}
    assert others == set()


def at(served: Endpoint, **more: Any) -> dict[str, Any]:
    return {"model": "openai/unheard-of", "api_base": served.url, "attempts": 1, **more}


def test_a_wrong_model_name_is_found(tmp_path: Path, served: Endpoint):
    served.respond = lambda request: fails(404)
    code, found = examine(written(tmp_path, models={"judge": at(served)}))
    assert code == 1
    assert found["model judge"]["level"] == "problem"
    assert "unheard-of" in found["model judge"]["said"]
    assert "name, address and key" in found["model judge"]["remedy"]


def test_a_model_without_structured_output_is_found(tmp_path: Path, served: Endpoint):
    code, found = examine(written(tmp_path, models={"judge": at(served)}))
    assert code == 1
    assert found["schema judge"]["level"] == "problem"
    assert "structured output" in found["schema judge"]["remedy"]


def test_a_judge_without_a_card_is_a_warning(tmp_path: Path, served: Endpoint):
    _, found = examine(written(tmp_path, models={"judge": at(served)}), "--offline")
    assert found["judge"]["level"] == "warning"
    assert "cotune calibrate" in found["judge"]["remedy"]
    assert served.requests == []


def test_a_family_in_two_splits_is_found(tmp_path: Path):
    files = {name: f"{name}.yaml" for name in ("train", "val", "test")}
    path = written(tmp_path, system={"rubric": "rubric.yaml", "scenarios": files})
    for number, name in enumerate(files.values()):
        part = [each for each in SCENARIOS if each["id"].endswith(str(number % 2))]
        (tmp_path / name).write_text(yaml.safe_dump(part))
    code, found = examine(path, "--offline")
    assert code == 1
    assert "is in the train and the val split" in found["scenarios"]["said"]
    assert "system.split" in found["scenarios"]["remedy"]


@pytest.mark.parametrize(("limits", "level"), [({"usd": 1.0}, "problem"), ({}, "warning")])
def test_a_missing_price_is_found(
    tmp_path: Path, served: Endpoint, limits: dict[str, float], level: str
):
    model = {"judge": at(served)}
    path = written(
        tmp_path, models=model, limits={"rollouts": 200, **limits},
        system={"rubric": "rubric.yaml", "judge": {"strategy": "word"}},
    )  # fmt: skip
    _, found = examine(path)
    assert found["prices"]["level"] == level
    assert "models.judge.price" in found["prices"]["remedy"]


def test_an_unreachable_tracking_server_is_found(tmp_path: Path):
    tracking = {"uri": "http://127.0.0.1:9"}
    code, found = examine(written(tmp_path, tracking=tracking), "--offline")
    assert code == 1
    assert "http://127.0.0.1:9 cannot be used" in found["tracking"]["said"]


@pytest.mark.parametrize(
    ("code", "about", "said"),
    [
        (
            SHOP.replace('prompts["search"]', 'prompts["zzz"]'),
            "replies",
            "raised KeyError: 'zzz' (shop_",
        ),
        (SHOP.replace("return text", "return [text]"), "replies", "must return text"),
        ("x = {}['nope']", "assistant", "failed: KeyError: 'nope'"),
        ("import sys; sys.exit(3)", "assistant", "failed: SystemExit"),
    ],
)
def test_code_that_breaks_is_a_finding(
    tmp_path: Path, served: Endpoint, code: str, about: str, said: str
):
    status, found = examine(written(tmp_path, code))
    assert status == 1
    assert said in found[about]["said"]


def test_calls_that_nobody_counts_are_a_warning(tmp_path: Path, served: Endpoint):
    _, found = examine(written(tmp_path))
    assert found["cost"]["level"] == "warning"
    assert "none was counted" in found["cost"]["said"]


def test_an_agent_that_the_rubric_alone_knows_is_found(tmp_path: Path):
    path = written(tmp_path)
    (tmp_path / "rubric.yaml").write_text(RUBRIC + "    agents: [writer]\n")
    code, found = examine(path, "--offline")
    assert code == 1
    assert (
        "names the agent 'writer', and the assistant has concierge, search"
        in found["rubric"]["said"]
    )


def test_without_a_configuration_the_command_is_wrong(tmp_path: Path):
    assert cotune("doctor", "--config", tmp_path / "none.yaml").code == 2


def test_files_that_are_wrong_are_all_named_at_once(tmp_path: Path):
    path = written(tmp_path, limits={"rollouts": 3})
    (tmp_path / "rubric.yaml").write_text("id: x")
    code, found = examine(path, "--offline")
    assert code == 1
    assert {"rubric", "budget"} <= {
        name for name, one in found.items() if one["level"] == "problem"
    }


def test_people_read_what_to_do(tmp_path: Path, served: Endpoint):
    code, about, _ = PLANTED["tool not recorded"]
    said = cotune("doctor", "--config", written(tmp_path, code))
    assert said.code == 1
    assert f"✗ {about}:" in said.out
    assert "→ Record each with tool_call" in said.words
    assert "1 problem, " in said.words
