"""Prompts in a file that a DSPy program loads."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import dspy
from dspy.lm15 import Message, Request, Response, Usage

from cotune.agents.adapters.dspy_predictors import signature_of
from cotune.agents.agent import Agent
from cotune.agents.compact_adapter import CompactAdapter
from cotune.agents.dspy_state import save_state
from cotune.agents.prompts import Prompt, PromptBundle
from cotune.agents.worked_examples import WorkedExample, with_examples

RULES = "Find it.\n\n## Rules\n- first\n\t- a tab and {braces}\n    - four spaces"
EXAMPLE = WorkedExample("an apple", '{"answer": "fruit"}')
BUNDLE = PromptBundle.of(
    Prompt("search", with_examples(RULES, [EXAMPLE])), Prompt("cart.clerk", "Count.")
)


class Ask(dspy.Signature):
    """Answer."""

    message: str = dspy.InputField(desc="what they said")
    answer: str = dspy.OutputField()


class Clerk(dspy.Module):
    def __init__(self) -> None:
        super().__init__()
        self.clerk = dspy.Predict(Ask)


class Shop(dspy.Module):
    def __init__(self) -> None:
        super().__init__()
        self.search = dspy.Predict(Ask)
        self.cart = Clerk()


class Heard(dspy.BaseLM):
    """Keeps what it was sent."""

    def __init__(self) -> None:
        super().__init__("heard")
        self.sent: list[Request] = []

    async def acall(self, prompt: Any = None, **_: Any) -> Response:
        self.sent.append(prompt)
        message = Message.assistant('{"answer": "yes"}')
        return Response(None, "heard", message, "stop", Usage())


def _loaded(folder: Path) -> Shop:
    save_state(BUNDLE, folder / "state.json")
    program = Shop()
    program.search.demos = [dspy.Example(message="a", answer="b").with_inputs("message")]
    program.load(str(folder / "state.json"))
    return program


def test_a_program_is_told_what_cotune_tells(tmp_path: Path) -> None:
    program, lm = _loaded(tmp_path), Heard()
    program.search.demos = []

    async def both() -> None:
        await Agent("search", Ask).call(BUNDLE["search"], lm, {"message": "a pear"}, 1)
        with dspy.context(lm=lm, adapter=CompactAdapter()):
            await program.search.acall(message="a pear", config={"seed": 1})

    asyncio.run(both())
    by_cotune, by_dspy = lm.sent
    assert by_cotune.system == RULES
    assert by_dspy.system == by_cotune.system
    assert by_dspy.messages == by_cotune.messages
    assert [message.role for message in by_dspy.messages] == ["user", "assistant", "user"]


def test_all_else_of_a_predictor_stays(tmp_path: Path) -> None:
    program = _loaded(tmp_path)
    assert signature_of(program.cart.clerk).instructions == "Count."
    assert [dict(demo) for demo in program.search.demos] == [{"message": "a", "answer": "b"}]
    extra: Any = signature_of(program.search).input_fields["message"].json_schema_extra
    assert extra["desc"] == "what they said"


def test_the_file_has_the_form_that_dspy_itself_saves(tmp_path: Path) -> None:
    _loaded(tmp_path).save(str(tmp_path / "own.json"))
    own, ours = (json.loads((tmp_path / name).read_text()) for name in ("own.json", "state.json"))
    assert ours["metadata"] == own["metadata"]
    assert ours["search"]["signature"]["instructions"].startswith("Find it.")
    assert set(own["search"]) - set(ours["search"]) == {"demos"}
