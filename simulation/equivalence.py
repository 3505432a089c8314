"""Equivalence: whether an assistant did the same as in a logged conversation.

While it does, the real customer's next line still fits; where it does not, the log is of no more
use. How strict "the same" is decides how far a replay goes, so it can be exchanged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from ..agents.assistant import Reply, ToolCall
from ..agents.fingerprint import canonical_json
from .acts import read_acts
from .trajectory import Turn

_VIEW = ("shown", "cart")


@dataclass(frozen=True, slots=True)
class Comparison:
    """A decision on one turn.

    Attributes:
        equivalent: Whether the customer can go on as logged.
        reason: Why, in one clause.
    """

    equivalent: bool
    reason: str


class Equivalence(Protocol):
    """A way to decide whether the log can be followed further."""

    @property
    def identity(self) -> Mapping[str, Any]:
        """What determines its decisions, JSON."""
        ...

    async def compare(self, logged: Turn, new: Turn) -> Comparison:
        """Compare what the assistant did in a logged turn with what it did now.

        Raises:
            FaultError: It cannot be decided; the fault says whose fault it is.
        """
        ...


@dataclass(frozen=True, slots=True)
class SameActsAndCalls:
    """The same dialogue acts, tool calls with the same arguments in any order, and the same view.

    The view is what screen and cart hold after the turn; a log that does not tell is believed.
    """

    @property
    def identity(self) -> Mapping[str, Any]:
        """Its name; it has no settings."""
        return {"equivalence": "same_acts_and_calls"}

    async def compare(self, logged: Turn, new: Turn) -> Comparison:
        """Compare acts, then calls, then view; letter case and spaces do not matter."""
        before, now = read_acts(logged.reply), read_acts(new.reply)
        if before != now:
            said = f"acts {_listed(before)} in the log, {_listed(now)} now"
            return Comparison(False, said)
        missing, added = _differences(_calls(logged.reply), _calls(new.reply))
        if missing or added:
            parts = [f"no longer {each}" for each in missing] + [f"new {each}" for each in added]
            return Comparison(False, "; ".join(parts))
        changed = [name for name in _VIEW if _differs(name, logged.state, new.state)]
        if changed:
            return Comparison(False, f"another {' and '.join(changed)}")
        return Comparison(True, "same acts, calls and view")


def _listed(acts: frozenset[Any]) -> str:
    return ", ".join(sorted(acts)) or "none"


def _differences(before: Counter[str], now: Counter[str]) -> tuple[list[str], list[str]]:
    return sorted((before - now).elements()), sorted((now - before).elements())


def _calls(reply: Reply) -> Counter[str]:
    """Count the tool calls, each as text; a refused call is another than one that worked."""
    return Counter(
        f"{call.tool}({canonical_json(_plain(call.arguments))}){' refused' if call.error else ''}"
        for call in reply.calls
        if isinstance(call, ToolCall)
    )


def _differs(name: str, before: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    return name in before and name in now and _plain(before[name]) != _plain(now[name])


def _plain(value: Any) -> Any:
    """Return a value without differences that mean nothing."""
    match value:
        case str():
            return " ".join(value.casefold().split())
        case float() if value.is_integer():
            return int(value)
        case Mapping():
            return {str(key): _plain(each) for key, each in value.items()}
        case list() | tuple():
            return [_plain(each) for each in value]
        case _:
            return value
