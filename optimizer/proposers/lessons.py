"""The lessons proposer: rules and worked examples distilled from feedback, without a model.

From single calls, new rules are those of the failing lessons, the most frequent first. Corrected
mistakes are added as worked examples, and right answers beside them: more examples with all
answers among them teach a small model more than the mistakes alone. Both lists are merged with
what is there, without repeats, and capped.

From whole conversations, of which no right answers are known, it learns rules only: see
`conversation_lessons.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from textwrap import shorten

from ...agents.worked_examples import WorkedExample
from ..rollout import Lesson
from .conversation_lessons import learned_from_cases
from .lesson_prompt import LessonPrompt
from .proposer import Assignment, Draft

_MOST_FEEDBACK = 4
"""Different things that were wrong with an agent's answers, as a diagnosis names them."""
_MOST_SAID = 200


@dataclass(frozen=True, slots=True)
class LessonsProposer:
    """Adds what the minibatch taught.

    Attributes:
        max_rules: Most rules a prompt may hold; those it holds already stay, even if more.
        max_examples: Most worked examples a prompt may hold; the oldest leave first.
        examples_at_once: Most worked examples added by one proposal, corrected mistakes first and
            right answers where there is room left. At most two thirds of either are quoted: the
            rest shows whether the prompt got better or knows by heart. The next number is taken
            after each rejection, and after the last the first: with a 0 among them, rules are
            tried alone where examples did harm.
        rules_at_once: Most rules added to a prompt by one proposal from conversations.
    """

    max_rules: int = 16
    max_examples: int = 40
    examples_at_once: Sequence[int] = (24,)
    rules_at_once: int = 6

    name = "lessons"
    quotes_train = True

    async def propose(self, assignment: Assignment) -> Draft:
        """Return each prompt with the lessons merged in; see `Proposer.propose`."""
        if assignment.cases:
            return learned_from_cases(assignment, self.max_rules, self.rules_at_once)
        texts = self._learned_from_calls(assignment)
        said = (_diagnosis(agent, assignment.lessons[agent]) for agent in texts)
        return Draft(texts, "\n".join(said))

    def _learned_from_calls(self, assignment: Assignment) -> Mapping[str, str]:
        texts = {}
        for agent, prompt in assignment.prompts.items():
            lessons = assignment.lessons.get(agent, ())
            if any(lesson.failed for lesson in lessons):
                parsed = LessonPrompt.parse(prompt.text)
                tried = sum(agent in one.texts for one in assignment.rejected)
                added = self.examples_at_once[tried % len(self.examples_at_once)]
                texts[agent] = self._learn(parsed, lessons, added, assignment.max_length).render()
        return texts

    def _learn(
        self, prompt: LessonPrompt, lessons: Sequence[Lesson], added: int, max_length: int
    ) -> LessonPrompt:
        failed = [lesson for lesson in lessons if lesson.failed]
        passed = [lesson for lesson in lessons if not lesson.failed]
        room = max(0, self.max_rules - len(prompt.rules))
        rules = [*prompt.rules, *_new_rules(failed, prompt.rules)[:room]]
        known = {example.inputs for example in prompt.examples}
        added = added if len(rules) > len(prompt.rules) else max(self.examples_at_once)
        corrected = _quotable(failed, known)[:added]
        room = min(added, self.max_examples - len(known)) - len(corrected)
        confirmed = _quotable(passed, known)[: max(0, room)]
        learned = prompt
        for right in range(len(confirmed), -1, -1):
            worked = map(_worked, _varied([*corrected, *confirmed[:right]]))
            examples = (*prompt.examples, *worked)[-self.max_examples :]
            learned = replace(prompt, rules=tuple(rules), examples=examples)
            if len(learned.render()) <= max_length:
                break
        return learned.fitting(max_length)


def _diagnosis(agent: str, lessons: Sequence[Lesson]) -> str:
    """Say what was wrong, the most frequent first."""
    wrong = [shorten(one.feedback, _MOST_SAID, placeholder=" …") for one in lessons if one.failed]
    most = (f"{count} × {said}" for said, count in Counter(wrong).most_common(_MOST_FEEDBACK))
    return "\n".join([f"{agent}: {len(wrong)} of {len(lessons)} answers were wrong.", *most])


def _new_rules(failed: Iterable[Lesson], known: Iterable[str]) -> list[str]:
    """Return the rules of the failures that the prompt does not hold, most frequent first."""
    counts = Counter(" ".join(lesson.rule.split()) for lesson in failed if lesson.rule.strip())
    return [rule for rule, _ in counts.most_common() if rule not in set(known)]


def _quotable(lessons: Sequence[Lesson], known: Collection[str]) -> list[Lesson]:
    """Return those that can be worked examples, two thirds at most, as varied as they are."""
    new = {
        lesson.inputs: lesson
        for lesson in _varied(lessons)
        if lesson.expected and lesson.inputs not in known and _worked(lesson).is_writable
    }
    return list(new.values())[: 2 * len(lessons) // 3]


def _worked(lesson: Lesson) -> WorkedExample:
    return WorkedExample(lesson.inputs, lesson.expected)


def _varied(lessons: Sequence[Lesson]) -> list[Lesson]:
    """Order lessons so that each expected output comes once before any comes twice."""
    seen: Counter[str] = Counter()
    ranks = []
    for lesson in lessons:
        ranks.append(seen[lesson.expected])
        seen[lesson.expected] += 1
    return [lessons[index] for index in sorted(range(len(lessons)), key=ranks.__getitem__)]
