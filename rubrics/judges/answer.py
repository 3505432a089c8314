"""A judge's answer: the form it must have, and what of it can be used.

The form is made for the criteria asked about, one entry for each, under its id. Entry by entry is
read, so that one entry that is wrong does not cost the others.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from ..criterion import Criterion
from ..verdict import Status, Verdict
from .rendering import Rendering

NOT_APPLICABLE = "NOT_APPLICABLE"
NOBODY = "none"
_MOST_QUOTES = 3
_LONGEST_SAID = 120


@dataclass(frozen=True, slots=True)
class Opinion:
    """What a judge said of one criterion.

    Attributes:
        verdict: The verdict.
        confidence: How sure it says it is, in [0, 1].
        pass_probability: In [0, 1], of a judge that gives one.
    """

    verdict: Verdict
    confidence: float
    pass_probability: float | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """What could be read from an answer.

    Attributes:
        opinions: By criterion.
        problems: By criterion: why there is no opinion.
        strange: What stands in it and was not asked for; empty when nothing does.
    """

    opinions: Mapping[str, Opinion] = field(default_factory=dict)
    problems: Mapping[str, str] = field(default_factory=dict)
    strange: str = ""


@dataclass(frozen=True, slots=True)
class AnswerSheet:
    """The form of the answer to one call.

    Attributes:
        criteria: Asked about.
        turn: The turn (from 0) asked about; None for the whole conversation.
        turns: Number of turns of the conversation.
        rendering: What the judge reads; its quotes must come from it.
    """

    criteria: tuple[Criterion, ...]
    turn: int | None
    turns: int
    rendering: Rendering

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema, which servers hold the model to."""
        return {
            "type": "object",
            "properties": {
                each.id: self._entry(each).model_json_schema() for each in self.criteria
            },
            "required": [each.id for each in self.criteria],
            "additionalProperties": False,
        }

    def read(self, text: str) -> Reading:
        """Read an answer; whatever it is, the reading has an opinion or a problem for each."""
        try:
            entries = json.loads(text, object_pairs_hook=_unrepeated)
        except (ValueError, RecursionError) as error:
            return self.unusable(f"it is not valid JSON: {_short(str(error))}")
        if not isinstance(entries, dict):
            return self.unusable("it is not a JSON object")
        opinions: dict[str, Opinion] = {}
        problems: dict[str, str] = {}
        for criterion in self.criteria:
            try:
                opinions[criterion.id] = self._opinion(criterion, entries)
            except ValueError as error:
                problems[criterion.id] = str(error)
        unknown = [_short(name) for name in entries if name not in {*opinions, *problems}]
        return Reading(opinions, problems, ", ".join(unknown[:3]))

    def unusable(self, reason: str) -> Reading:
        """Return the reading of an answer in which nothing can be used."""
        return Reading(problems={each.id: reason for each in self.criteria})

    def _entry(self, criterion: Criterion) -> type[BaseModel]:
        turns = self.turns if self.turn is None else None
        return _entry_model(words_of(criterion), criterion.agents, turns)

    def _opinion(self, criterion: Criterion, entries: Mapping[str, Any]) -> Opinion:
        if criterion.id not in entries:
            raise ValueError("it is missing")
        try:
            entry: Any = self._entry(criterion).model_validate(entries[criterion.id])
        except ValidationError as error:
            raise ValueError(_first_problem(error)) from error
        value = _value(criterion, entry)
        failed = value is not None and criterion.fails_at(value)
        self._require_grounds(entry, failed)
        turn = next((turn - 1 for turn in entry.turns), None) if self.turn is None else self.turn
        agent = None if entry.agent == NOBODY else entry.agent
        verdict = Verdict(
            criterion.id,
            value,
            Status.NOT_APPLICABLE if value is None else Status.SCORED,
            entry.rationale.strip(),
            tuple(entry.evidence),
            agent or (criterion.agents[0] if len(criterion.agents) == 1 else None),
            turn,
        )
        return Opinion(verdict, entry.confidence / 100)

    def _require_grounds(self, entry: Any, failed: bool) -> None:
        if not entry.rationale.strip():
            raise ValueError("rationale: it is empty")
        if failed and not entry.evidence:
            raise ValueError("evidence: there is none, and what is not good needs a quote")
        for quote in entry.evidence:
            if not self.rendering.contains(quote):
                raise ValueError(f"evidence: '{_short(quote)}' does not occur in the conversation")


def words_of(criterion: Criterion) -> tuple[str, ...]:
    """Return the words for the values of a criterion's scale, the best first."""
    if isinstance(criterion.scale, str):
        return ("PASS", "FAIL")
    return tuple(f"{value:g}" for value in criterion.values)


@lru_cache(maxsize=512)
def _entry_model(
    words: tuple[str, ...], agents: tuple[str, ...], turns: int | None
) -> type[BaseModel]:
    """Build the model of one entry: applicability first, and the reasons before the value."""
    fields: dict[str, Any] = {
        "applies": (bool, ...),
        "rationale": (str, ...),
        "evidence": (Annotated[list[str], Field(max_length=_MOST_QUOTES)], ...),
        "turns": (list[Annotated[int, Field(ge=1, le=turns)]], ...),
        "agent": (Literal[(*agents, NOBODY)], ...),
        "value": (Literal[(*words, NOT_APPLICABLE)], ...),
        "confidence": (Annotated[int, Field(ge=0, le=100)], ...),
    }
    if turns is None:
        del fields["turns"]
    config = ConfigDict(extra="forbid", strict=True)
    return create_model("Entry", __config__=config, **fields)


def _value(criterion: Criterion, entry: Any) -> float | None:
    if entry.applies == (entry.value == NOT_APPLICABLE):
        said = str(entry.applies).lower()
        raise ValueError(f"value: '{entry.value}' contradicts applies: {said}")
    values = dict(zip(words_of(criterion), criterion.values, strict=True))
    return values.get(entry.value)


def _first_problem(error: ValidationError) -> str:
    problem = error.errors(include_url=False)[0]
    where = ".".join(map(str, problem["loc"])) or "the entry"
    return f"{where}: {problem['msg']}, found {_short(repr(problem['input']))}"


def _unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build an object; a name that comes twice would leave open which one counts."""
    names = [name for name, _ in pairs]
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise ValueError(f"'{_short(repeated)}' is there twice")
    return dict(pairs)


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_SAID else f"{text[:_LONGEST_SAID]}…"
