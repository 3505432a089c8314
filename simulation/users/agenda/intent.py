"""What the customer means to say next, before it is put into words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class Intent:
    """One thing to say, and what else is said in the same breath.

    Attributes:
        act: What it does; the name of the phrases it is put into words with.
        errand: Id of the errand it is about.
        fields: What the phrases have placeholders for.
        words: The customer's very words, in place of a phrase.
        notes: What it means beside act and errand, for `Memory` to read at the next turn:
            `item` (the id of what is taken), `instead` (it stands in for what was wanted),
            `takes_out` (the id of what has to go), `gives_up` (an errand's id), `revealed`
            (what was told), `revision` and `leaving`.
        before: What is said before it.
    """

    act: str
    errand: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)
    words: str = ""
    notes: Mapping[str, Any] = field(default_factory=dict)
    before: Intent | None = None

    def after(self, first: Intent) -> Intent:
        """Return this intent with another one said before it."""
        return replace(self, before=self.before.after(first) if self.before else first)

    def parts(self) -> list[Intent]:
        """Return what is said, in order."""
        return [*(self.before.parts() if self.before else ()), replace(self, before=None)]

    def all_notes(self) -> dict[str, Any]:
        """Return the notes of the turn; the last part says what it is about."""
        noted: dict[str, Any] = {"act": self.act, "errand": self.errand}
        revealed: list[str] = []
        for part in self.parts():
            noted |= part.notes
            revealed += part.notes.get("revealed", ())
        return {name: value for name, value in {**noted, "revealed": revealed}.items() if value}
