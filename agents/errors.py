"""Errors a person can act on, and faults: failures that are data, never a score."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum


class CotuneError(Exception):
    """A failure with a message written for the person who ran the command.

    The message is one paragraph: what is wrong, where, what was found, and what to do.
    The command line prints it without a traceback and exits with `exit_code`.
    """

    exit_code = 1


class UsageError(CotuneError):
    """The command, a configuration file or an input file is wrong (exit code 2)."""

    exit_code = 2


class FaultOrigin(StrEnum):
    """Who caused a failed rollout. Only the assistant's own failures may lower a score."""

    ASSISTANT = "assistant"
    TOOL = "tool"
    USER = "user"
    JUDGE = "judge"
    PROVIDER = "provider"
    INFRASTRUCTURE = "infrastructure"


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a rollout has no score.

    Attributes:
        origin: Who caused it.
        kind: A short stable code, such as `rate_limit` or `invalid_json`.
        message: One sentence for a person; secrets never enter it.
    """

    origin: FaultOrigin
    kind: str
    message: str

    def said_of(self, name: str) -> Fault:
        """Return this fault with a message that says who or what it befell."""
        return replace(self, message=f"{name}: {self.message}")


class FaultError(CotuneError):
    """Raised where a rollout cannot go on; carries the attributed `Fault`."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(f"{fault.origin} fault ({fault.kind}): {fault.message}")
        self.fault = fault
