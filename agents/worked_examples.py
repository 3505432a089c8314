"""Worked examples at the end of a prompt, and how they reach the model.

A prompt may end with a section

    ## Examples
    Input: what the agent receives
    Output: {"what": "it should answer"}

which people can read and edit like the rest of it. The input may go over several lines, and
examples may be set apart by blank lines; a section in which anything else stands is ordinary
text, so that nothing a person wrote is lost. It is not sent as part of the system message
but as earlier exchanges of the conversation, the form that chat models learn from best: on the
embedded 1.5B model, routing with 15 rules and 20 examples scored 0.90 on val with exchanges and
0.62 with the same text in the system message (`docs/decisions.md`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

HEADING = "## Examples"
_INPUTS = rf"(?:(?!\nOutput: |\n{HEADING}\n).)*"
_BLOCK = re.compile(rf"Input: ({_INPUTS})\nOutput: ([^\n]*)", re.DOTALL)
_SECTION = re.compile(
    rf"(?:\A|\n){HEADING}\n+(?P<blocks>(?:Input: {_INPUTS}\nOutput: [^\n]*(?:\n+|\Z))+)\Z",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class WorkedExample:
    """What the agent receives, as the model reads it, and the answer, JSON on one line."""

    inputs: str
    output: str

    @property
    def is_writable(self) -> bool:
        """Whether it reads back as itself: its parts do not look like the format's own lines."""
        return split_examples(with_examples("", [self])) == ("", (self,))


def split_examples(prompt: str) -> tuple[str, tuple[WorkedExample, ...]]:
    """Return a prompt without its examples section, and the examples."""
    section = _SECTION.search(prompt.rstrip())
    if section is None:
        return prompt, ()
    examples = tuple(WorkedExample(*block) for block in _BLOCK.findall(section["blocks"]))
    return prompt[: section.start()].rstrip(), examples


def with_examples(prompt: str, examples: Sequence[WorkedExample]) -> str:
    """Append an examples section; without examples the prompt stays as it is."""
    if not examples:
        return prompt
    return "\n".join([f"{prompt}\n", HEADING, *(_write(example) for example in examples)])


def _write(example: WorkedExample) -> str:
    return f"Input: {example.inputs}\nOutput: {example.output}"
