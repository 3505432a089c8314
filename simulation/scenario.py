"""Scenarios: what a customer wants, where the world starts, and where it should end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from ..agents.fingerprint import fingerprint
from ..agents.problem import Problem, inconsistent
from .term import Term
from .words import OptionalWords, Words


class Outcome(StrEnum):
    """How the errand ends when the assistant does all it should."""

    ACHIEVED = "achieved"
    IMPOSSIBLE = "impossible"
    REFUSED = "refused"


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Fact(_Model):
    """Something about the customer that the assistant may ask for.

    Attributes:
        name: Short name, such as `diet` or `delivery address`.
        value: The fact itself. Of a fact the customer does not know it is what they must never
            say.
        say: The customer's words for it; the value when empty.
        asked_by: Words in a question that ask for it; those of the name when empty.
    """

    name: str = Field(min_length=1)
    value: Words
    say: OptionalWords = ""
    asked_by: tuple[str, ...] = ()


class _Errand(_Model):
    id: str = Field(min_length=1)


class ItemErrand(_Errand):
    """Get an item into the cart, or out of it.

    Attributes:
        item: What the customer calls it: a generic noun such as `oat milk`.
        quantity: Units wanted in the end; 0 is none any more.
        must: What holds for this item beside the scenario's constraints; never given up.
        prefer: What the customer would like; given up when it cannot be had.
        substitute: Whether something else is taken when it cannot be had. What is taken meets
            every term of `must` all the same, and is taken only after it was shown.
        say: The customer's words for the request; a phrasing of the persona's when empty.
    """

    say: OptionalWords = ""
    kind: Literal["item"] = "item"
    item: str = Field(min_length=1)
    quantity: int = Field(default=1, ge=0)
    must: tuple[Term, ...] = ()
    prefer: tuple[Term, ...] = ()
    substitute: bool = False


class ChangeErrand(_Errand):
    """Have something done that shows in the world's state, such as a checkout.

    Attributes:
        say: The customer's words.
        reached: Fields of the state and the values they have when it is done.
    """

    say: Words
    kind: Literal["change"] = "change"
    reached: dict[str, Any] = Field(min_length=1)


class QuestionErrand(_Errand):
    """Ask something, or ask for what the assistant must refuse.

    Attributes:
        say: The customer's words.
        expects: What the assistant should do.
        about: Words of which an answer contains at least one; any statement will do when empty.
        insists: How often the customer asks again after a refusal.
    """

    say: Words
    kind: Literal["question"] = "question"
    expects: Literal["answer", "refusal"] = "answer"
    about: tuple[str, ...] = ()
    insists: int = Field(default=0, ge=0)


class StatementErrand(_Errand):
    """Tell the assistant something that it should keep in mind; any reply will do."""

    say: Words
    kind: Literal["statement"] = "statement"


Errand = Annotated[
    ItemErrand | ChangeErrand | QuestionErrand | StatementErrand, Field(discriminator="kind")
]


class Revision(_Model):
    """A change of mind on a schedule.

    Attributes:
        turn: The customer's turn, from 1, in which it is said at the earliest.
        say: The customer's words.
        errands: Errands that replace those with the same id, or come on top.
        drop: Ids of errands that are given up.
        constraints: Terms that hold for every item from then on.
    """

    turn: int = Field(ge=2)
    say: Words
    errands: tuple[Errand, ...] = ()
    drop: tuple[str, ...] = ()
    constraints: tuple[Term, ...] = ()

    @model_validator(mode="after")
    def _changes_something(self) -> Self:
        if not (self.errands or self.drop or self.constraints):
            raise ValueError("a revision changes something: give errands, drop or constraints")
        return self


class Scenario(_Model):
    """One customer's visit: what they want and know, and how the world begins and should end.

    Attributes:
        id: Unique in its file.
        family: Situation or phrasing scheme; splits go by family, so no family is in two splits.
        goal: What the customer wants, in plain words.
        persona: Name of a persona.
        opening: The first line, word for word; the persona's own when None.
        facts: What the customer knows and says when asked.
        unknown: What the customer does not know and must never say.
        constraints: Terms on every item, never given up.
        preferences: Terms on every item, given up when they cannot be had.
        budget: What the cart may cost at most, in the assistant's currency.
        errands: What the customer came for, in the order in which it comes up.
        revisions: Changes of mind, in the order in which they come up.
        outcome: How it ends when the assistant does all it should.
        initial_state: What the assistant's `start` receives, JSON.
        expected: The end state in the assistant's own terms, JSON; empty when it is not known.
        acceptable: Other end states that are just as good.
        tags: Free labels to filter and report by.
        seed: From which the customer's wording is drawn, together with the run's seed.
    """

    id: str = Field(min_length=1)
    family: str = Field(min_length=1)
    goal: Words
    persona: str = "shopper"
    opening: str | None = None
    facts: tuple[Fact, ...] = ()
    unknown: tuple[Fact, ...] = ()
    constraints: tuple[Term, ...] = ()
    preferences: tuple[Term, ...] = ()
    budget: float | None = Field(default=None, gt=0)
    errands: tuple[Errand, ...] = ()
    revisions: tuple[Revision, ...] = ()
    outcome: Outcome = Outcome.ACHIEVED
    initial_state: dict[str, Any] = Field(default_factory=dict)
    expected: dict[str, Any] = Field(default_factory=dict)
    acceptable: tuple[dict[str, Any], ...] = ()
    tags: tuple[str, ...] = ()
    seed: int = 0

    @field_validator("opening")
    @classmethod
    def _opens(cls, opening: str | None) -> str | None:
        if opening is not None and not opening.strip():
            raise ValueError(
                "give the customer's first line, or leave the field out: the persona then opens "
                "the conversation"
            )
        return opening

    @model_validator(mode="after")
    def _ids_fit(self) -> Self:
        problems: list[Problem] = []
        known: list[str] = []
        for number, errand in enumerate(self.errands):
            if errand.id in known:
                said = f"'{errand.id}' is taken by another errand; give each an id of its own"
                problems.append((("errands", number, "id"), said))
            known.append(errand.id)
        for number, revision in enumerate(self.revisions):
            known += [errand.id for errand in revision.errands]
            for index, id_ in enumerate(revision.drop):
                if id_ not in known:
                    there = ", ".join(dict.fromkeys(known)) or "none"
                    said = f"there is no errand '{id_}' to be dropped by then; there is: {there}"
                    problems.append((("revisions", number, "drop", index), said))
        if problems:
            raise inconsistent(problems)
        return self

    @property
    def fingerprint(self) -> str:
        """Short hash of everything that can change a conversation or its score."""
        return fingerprint(self.model_dump(mode="json"))

    def revised(self, revisions: Iterable[Revision]) -> Scenario:
        """Return the scenario as it is after some of its revisions were said."""
        errands: Mapping[str, Errand] = {errand.id: errand for errand in self.errands}
        constraints = self.constraints
        for revision in revisions:
            errands = {**errands, **{errand.id: errand for errand in revision.errands}}
            errands = {id_: errand for id_, errand in errands.items() if id_ not in revision.drop}
            constraints += revision.constraints
        return self.model_copy(
            update={"errands": tuple(errands.values()), "constraints": constraints}
        )

    @property
    def final(self) -> Scenario:
        """The scenario after all its revisions: what the customer wants in the end."""
        return self.revised(self.revisions)
