"""The ledger: every model call with its tokens, money and what was actually sent."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from threading import Lock
from typing import Any


class Role(StrEnum):
    """What a model is used for."""

    TASK = "task"
    USER = "user"
    JUDGE = "judge"
    REFLECTION = "reflection"


@dataclass(frozen=True, slots=True)
class Usage:
    """Totals over calls; adding two is adding each field.

    Attributes:
        calls: Answered model calls.
        attempts: Requests sent, retries included.
        input_tokens: Tokens read, as the provider reports them.
        output_tokens: Tokens written.
        cost: US dollars; what no price is known for counts as 0 and in `unpriced`.
        unpriced: Calls without a known price.
        replayed: Calls whose answer came from the journal and was not paid again.
    """

    calls: int = 0
    attempts: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    unpriced: int = 0
    replayed: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.calls + other.calls,
            self.attempts + other.attempts,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cost + other.cost,
            self.unpriced + other.unpriced,
            self.replayed + other.replayed,
        )

    @property
    def tokens(self) -> int:
        """Input and output tokens together."""
        return self.input_tokens + self.output_tokens

    def as_replayed(self) -> Usage:
        """Return the same usage, marked as read back from the journal."""
        return replace(self, replayed=self.calls)

    def to_json(self) -> dict[str, Any]:
        """Return a plain dictionary for the journal."""
        return asdict(self)


Spending = dict[tuple[Role, str], Usage]
"""Usage by model role and agent."""


@dataclass(frozen=True, slots=True)
class Sent:
    """What was really sent for one call, after defaults and the provider's adaptations.

    Attributes:
        model: The model string.
        temperature: Sampling temperature, or None for the provider's default.
        max_tokens: Limit on the answer, or None.
        seed: Sampling seed, or None.
        schema: Name of the JSON schema that the answer had to fit, `grammar` where it had to follow
            one, empty for free text.
        adaptations: What the wire could not carry as asked, such as a dropped seed.
    """

    model: str
    temperature: float | None
    max_tokens: int | None
    seed: int | None
    schema: str = ""
    adaptations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """One answered or failed model call.

    Attributes:
        role: What the model was used for.
        agent: The agent that called, empty outside an assistant.
        key: The journal key of the work this call belongs to.
        sent: What was sent.
        usage: What it used.
        seconds: Wall time with retries.
        error: The kind of the final failure, empty when answered.
    """

    role: Role
    agent: str
    key: str
    sent: Sent
    usage: Usage
    seconds: float
    error: str = ""


@dataclass(frozen=True, slots=True)
class Attribution:
    """To whom calls made in this context are charged."""

    agent: str = ""
    key: str = ""


_NOBODY = Attribution()
_attribution: ContextVar[Attribution] = ContextVar("cotune_attribution", default=_NOBODY)


@contextmanager
def charged_to(*, agent: str | None = None, key: str | None = None) -> Iterator[None]:
    """Charge the model calls made inside to an agent and a journal key."""
    current = _attribution.get()
    token = _attribution.set(
        Attribution(current.agent if agent is None else agent, current.key if key is None else key)
    )
    try:
        yield
    finally:
        _attribution.reset(token)


def current_attribution() -> Attribution:
    """Return to whom a call made now would be charged."""
    return _attribution.get()


@dataclass(slots=True)
class Ledger:
    """Totals per (role, agent), and the usage of each piece of work until it is collected.

    Totals are kept rather than entries, so a long run needs constant memory; `sent` keeps one
    example of what was sent per (role, agent, model), which is what a reader wants to see.
    """

    totals: Spending = field(default_factory=lambda: defaultdict(Usage))
    sent: dict[tuple[Role, str, str], Sent] = field(default_factory=dict)
    errors: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    _by_key: dict[str, Spending] = field(default_factory=dict)
    _recording: Lock = field(default_factory=Lock, repr=False, compare=False)

    def record(self, entry: LedgerEntry) -> None:
        """Add one call; assistants may do so from threads of their own."""
        with self._recording:
            self.totals[entry.role, entry.agent] += entry.usage
            self.sent[entry.role, entry.agent, entry.sent.model] = entry.sent
            if entry.error:
                self.errors[entry.error] += 1
            if entry.key:
                spent = self._by_key.setdefault(entry.key, defaultdict(Usage))
                spent[entry.role, entry.agent] += entry.usage

    def collect(self, key: str) -> Usage:
        """Take out what the work `key` has used since the last collection."""
        return sum(self.collect_parts(key).values(), Usage())

    def collect_parts(self, key: str) -> Spending:
        """Take out the same, by role and agent."""
        return dict(self._by_key.pop(key, {}))

    def add(self, spending: Spending) -> None:
        """Count work that another process has done, and recorded in a ledger of its own."""
        for (role, agent), usage in spending.items():
            self.totals[role, agent] += usage

    def replay(self, role: Role, agent: str, usage: Usage) -> None:
        """Count work that was paid for in an earlier run of the same command."""
        self.totals[role, agent] += usage.as_replayed()

    @property
    def total(self) -> Usage:
        """Everything together."""
        return sum(self.totals.values(), Usage())

    def by_role(self) -> Mapping[Role, Usage]:
        """Totals per role."""
        roles: dict[Role, Usage] = defaultdict(Usage)
        for (role, _), usage in self.totals.items():
            roles[role] += usage
        return roles
