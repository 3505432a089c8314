"""How a simulated agent reads its prompt: rules, worked examples, and what is mentioned at all.

The contract with the proposers that write prompts: rules are bullets (under `## Rules` or
anywhere), worked examples stand under `## Examples` as blocks of `Input: …` and `Output: …`,
where the output is JSON on one line.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

_EXAMPLES = re.compile(r"^#+ *Examples?\b.*?$(.*?)(?=^#+ |\Z)", re.MULTILINE | re.DOTALL | re.I)
_PAIR = re.compile(r"^\W*Input: *(.*?)\n\W*Output: *(.+?)$", re.MULTILINE | re.DOTALL)
_BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+")


@dataclass(frozen=True, slots=True)
class Example:
    """One worked example: what was sent and what the right answer was, as text."""

    input: str
    output: str

    def answer(self) -> dict[str, Any]:
        """Return the output as a JSON object; empty when it is none."""
        try:
            value = json.loads(self.output)
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}


@dataclass(frozen=True, slots=True)
class Instructions:
    """A prompt, read.

    Attributes:
        text: All of it except the worked examples, in lower case.
        statements: Its bullets and sentences, as written.
        examples: Its worked examples.
    """

    text: str
    statements: tuple[str, ...]
    examples: tuple[Example, ...]

    @classmethod
    def read(cls, prompt: str) -> Instructions:
        """Read a prompt; no prompt is too strange to be read."""
        return _read(prompt)

    def mention(self, *stems: str) -> bool:
        """Whether a word of the prompt, outside its examples, begins with one of the stems."""
        return any(re.search(rf"\b{re.escape(stem)}", self.text) for stem in stems)


@lru_cache(maxsize=512)
def _read(prompt: str) -> Instructions:
    examples = tuple(
        Example(found, output.strip())
        for section in _EXAMPLES.findall(prompt)
        for found, output in _PAIR.findall(section)
    )
    rest = _EXAMPLES.sub("", prompt)
    statements = [part for line in rest.splitlines() for part in _statements(line)]
    return Instructions(rest.lower(), tuple(statements), examples)


def _statements(line: str) -> list[str]:
    """A bullet is one statement; other lines are as many as they have sentences."""
    if line.lstrip().startswith("#") or not line.strip():
        return []
    if _BULLET.match(line):
        return [_BULLET.sub("", line).strip()]
    return [part.strip() for part in _SENTENCE_END.split(line) if part.strip()]
