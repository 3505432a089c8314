"""Lesson prompts: a person's text, a `## Rules` list and a `## Examples` list at its end.

Text and rules that were there stay: a list with anything else in or after it is the person's text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from ...agents.worked_examples import WorkedExample, split_examples, with_examples

_RULES = "## Rules"
_SECTION = re.compile(rf"(?:\A|\n){_RULES}\n+(?P<rules>(?:- [^\n]+(?:\n+|\Z))+)\Z")


@dataclass(frozen=True, slots=True)
class LessonPrompt:
    """A prompt split into the text a person wrote and the lessons learned since.

    Attributes:
        text: The person's text.
        rules: One sentence each, oldest first.
        examples: Worked examples, oldest first.
    """

    text: str
    rules: tuple[str, ...] = ()
    examples: tuple[WorkedExample, ...] = ()

    @classmethod
    def parse(cls, prompt: str) -> LessonPrompt:
        """Read a prompt; one without lists is all text."""
        body, examples = split_examples(prompt)
        section = _SECTION.search(body.rstrip())
        if section is None:
            return cls(body.strip(), (), examples)
        rules = (line.removeprefix("- ") for line in section["rules"].split("\n") if line)
        return cls(body[: section.start()].strip(), tuple(rules), examples)

    def render(self) -> str:
        """Write the prompt."""
        rules = "\n".join([f"\n\n{_RULES}", *(f"- {rule}" for rule in self.rules)])
        return with_examples(self.text + (rules if self.rules else ""), self.examples)

    def fitting(self, max_length: int) -> LessonPrompt:
        """Drop the oldest examples, then the newest rules, until it has so many characters."""
        prompt = self
        while prompt.examples and len(prompt.render()) > max_length:
            prompt = replace(prompt, examples=prompt.examples[1:])
        while prompt.rules and len(prompt.render()) > max_length:
            prompt = replace(prompt, rules=prompt.rules[:-1])
        return prompt
