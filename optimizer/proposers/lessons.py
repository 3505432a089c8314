"""The lessons proposer: rules and corrected mistakes distilled from feedback, without a model.

A prompt is read as its own text, then a `## Rules` list and a `## Examples` list at its end. New
rules come from the failing lessons, the most frequent first; corrected mistakes are added as
worked examples. Both lists are merged with what is there, without repeats, and capped. Rules and
text that were there stay: a list with anything else in or after it is the person's text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ...agents.worked_examples import WorkedExample, split_examples, with_examples
from ..rollout import Lesson
from .proposer import Assignment

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


@dataclass(frozen=True, slots=True)
class LessonsProposer:
    """Adds what the minibatch taught.

    Attributes:
        max_rules: Most rules a prompt may hold; those it holds already stay, even if more.
        max_examples: Most worked examples a prompt may hold; the oldest leave first.
        examples_at_once: Most worked examples added by one proposal. At most two thirds of the
            failures are quoted: the rest shows whether the prompt got better or knows by heart.
    """

    max_rules: int = 16
    max_examples: int = 40
    examples_at_once: int = 24

    name = "lessons"
    quotes_train = True

    async def propose(self, assignment: Assignment) -> Mapping[str, str]:
        """Return each prompt with the lessons merged in; see `Proposer.propose`."""
        texts = {}
        for agent, prompt in assignment.prompts.items():
            failed = [lesson for lesson in assignment.lessons.get(agent, ()) if lesson.failed]
            if failed:
                learned = self._learn(LessonPrompt.parse(prompt.text), failed)
                texts[agent] = _fit(learned, assignment.max_length).render()
        return texts

    def _learn(self, prompt: LessonPrompt, failed: Sequence[Lesson]) -> LessonPrompt:
        room = max(0, self.max_rules - len(prompt.rules))
        rules = [*prompt.rules, *_new_rules(failed, prompt.rules)[:room]]
        known = {example.inputs for example in prompt.examples}
        corrected = {
            lesson.inputs: example
            for lesson in _varied(failed)
            if lesson.expected and lesson.inputs not in known
            if (example := WorkedExample(lesson.inputs, lesson.expected)).is_writable
        }
        quoted = min(self.examples_at_once, 2 * len(failed) // 3)
        examples = [*prompt.examples, *list(corrected.values())[:quoted]]
        return replace(prompt, rules=tuple(rules), examples=tuple(examples[-self.max_examples :]))


def _new_rules(failed: Iterable[Lesson], known: Iterable[str]) -> list[str]:
    """Return the rules of the failures that the prompt does not hold, most frequent first."""
    counts = Counter(" ".join(lesson.rule.split()) for lesson in failed if lesson.rule.strip())
    return [rule for rule, _ in counts.most_common() if rule not in set(known)]


def _varied(failed: Sequence[Lesson]) -> list[Lesson]:
    """Order failures so that each expected output comes once before any comes twice."""
    seen: Counter[str] = Counter()
    ranks = []
    for lesson in failed:
        ranks.append(seen[lesson.expected])
        seen[lesson.expected] += 1
    return [failed[index] for index in sorted(range(len(failed)), key=ranks.__getitem__)]


def _fit(prompt: LessonPrompt, max_length: int) -> LessonPrompt:
    """Drop the oldest examples, then the newest rules, until the prompt fits."""
    while prompt.examples and len(prompt.render()) > max_length:
        prompt = replace(prompt, examples=prompt.examples[1:])
    while prompt.rules and len(prompt.render()) > max_length:
        prompt = replace(prompt, rules=prompt.rules[:-1])
    return prompt
