"""What a simulated agent sees of one call: its instructions, its inputs and the output schema."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from dspy.lm15 import Request

from ..reask import without_reminder
from .instructions import Example, Instructions


@dataclass(frozen=True, slots=True)
class Call:
    """One call, as sent.

    Attributes:
        instructions: The prompt, read.
        inputs: The input fields found in the last message; JSON where a value is JSON.
        text: The last message as it is.
        schema: The JSON schema that the answer must fit.
    """

    instructions: Instructions
    inputs: Mapping[str, Any]
    text: str
    schema: Mapping[str, Any]

    @classmethod
    def of(cls, request: Request, names: Sequence[str]) -> Call:
        """Read a request; earlier exchanges in it count as worked examples."""
        instructions = Instructions.read(system_text(request))
        turns = [message.text or "" for message in request.messages]
        shown = tuple(Example(*pair) for pair in zip(turns[:-1:2], turns[1:-1:2], strict=False))
        text = without_reminder(turns[-1])
        return cls(
            replace(instructions, examples=instructions.examples + shown),
            read_inputs(text, names),
            text,
            cast(Mapping[str, Any], (request.config.response_format or {}).get("schema") or {}),
        )

    def string(self, name: str) -> str:
        """Return an input as text; empty when it was not sent."""
        value = self.inputs.get(name)
        return value if isinstance(value, str) else ""

    def items(self, name: str) -> list[Any]:
        """Return an input as a list; empty when it was not sent."""
        value = self.inputs.get(name)
        return value if isinstance(value, list) else []


def system_text(request: Request) -> str:
    """Return the system message as plain text."""
    system = request.system
    if system is None or isinstance(system, str):
        return system or ""
    return "".join(part.text for part in system if part.type == "text")


def read_inputs(text: str, names: Sequence[str]) -> dict[str, Any]:
    """Split a message into input fields.

    A single field is the whole message; several are written as `name: value`, in order, where
    a value may go over several lines.
    """
    if len(names) == 1:
        return {names[0]: text}
    starts: list[tuple[str, int, int]] = []
    position = 0
    for name in names:
        match = re.compile(rf"^{re.escape(name)}: ?", re.MULTILINE).search(text, position)
        if match is not None:
            starts.append((name, match.start(), match.end()))
            position = match.end()
    ends = [start for _, start, _ in starts[1:]] + [len(text)]
    return {
        name: _value(text[begin:end].strip("\n"))
        for (name, _, begin), end in zip(starts, ends, strict=True)
    }


def _value(text: str) -> Any:
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if value is None or isinstance(value, (dict, list)) else text
