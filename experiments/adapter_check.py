"""Whether a service takes part as it should: each rule of the HTTP adapter, tried on it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import httpx

from ..agents.adapters.http import Service
from ..agents.adapters.http_protocol import AgentEntry, Asked, Completion
from ..agents.adapters.settings import HttpSettings
from ..agents.errors import FaultError

_STATE = "cotune_check"
_NOBODY = "no_such_agent"


class Outcome(StrEnum):
    """How a check ended."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found.

    Attributes:
        name: What was checked.
        outcome: How it ended; skipped where an earlier failure leaves nothing to check.
        seen: What was seen.
        remedy: What to do about a failure.
    """

    name: str
    outcome: Outcome
    seen: str
    remedy: str = ""


class _FailureError(Exception):
    """A check failed: what was seen, and what to do."""

    def __init__(self, seen: str, remedy: str) -> None:
        super().__init__(seen)
        self.seen = seen
        self.remedy = remedy


@dataclass
class ServiceCheck:
    """Checks a service, rule by rule.

    Attributes:
        settings: Where it is.
        message: What a customer says to it.
        prompts: What its agents are told; what it says itself where empty.
    """

    settings: HttpSettings
    message: str = "Hello, what can you do for me?"
    prompts: dict[str, str] = field(default_factory=dict)

    async def run(self) -> list[Finding]:
        """Try everything; what is found does not end it."""
        service = Service(self.settings)
        found: list[Finding] = []
        checks: tuple[tuple[str, Callable[[Service], Awaitable[str]]], ...] = (
            ("describes itself", self._describes),
            ("answers", self._answers),
            ("records its agents", self._records),
            ("keeps conversations apart", self._keeps_apart),
            ("refuses prompts it has no agent for", self._refuses),
        )
        for name, check in checks:
            if found and found[0].outcome is Outcome.FAILED:
                found.append(Finding(name, Outcome.SKIPPED, "The service was not understood."))
                continue
            found.append(await _tried(name, check(service), self.settings.url))
        return found

    async def _describes(self, service: Service) -> str:
        description = await asyncio.to_thread(service.describe)
        self.prompts = self.prompts or dict(description.prompts)
        if not self.prompts:
            raise _FailureError(
                f"{service.description_url} names no prompts.",
                'Answer it with {"version": 1, "revision": "…", "prompts": {"AGENT": "…"}}, or '
                "give the folder of prompts to the check with --prompts.",
            )
        revision = description.revision or "no revision"
        return f"Agents: {', '.join(self.prompts)}; {revision}."

    async def _answers(self, service: Service) -> str:
        completion = await self._ask(service, "answers")
        if not completion.text.strip():
            raise _FailureError("The reply is empty.", "Put it into choices[0].message.content.")
        return f"“{completion.text[:60]}”"

    async def _records(self, service: Service) -> str:
        calls = (await self._ask(service, "records")).cotune.calls
        agents = [entry.agent for entry in calls if isinstance(entry, AgentEntry)]
        if not agents:
            raise _FailureError(
                "cotune.calls holds no call of an agent.",
                'Add {"agent": "…", "inputs": {…}, "outputs": {…}} for every call of a model.',
            )
        strange = sorted({entry.agent for entry in calls if entry.agent} - set(self.prompts))
        if strange:
            raise _FailureError(
                f"cotune.calls names the agent '{strange[0]}', which has no prompt.",
                f"Use the names of the prompts: {', '.join(self.prompts)}.",
            )
        return f"{len(calls)} calls, of {', '.join(dict.fromkeys(agents))}."

    async def _keeps_apart(self, service: Service) -> str:
        names = ("one", "other")
        told = await asyncio.gather(*(self._ask(service, name) for name in names))
        for name, each in zip(names, told, strict=True):
            if each.cotune.state.get(_STATE) != name:
                raise _FailureError(
                    f"The state '{_STATE}: {name}' came back as {each.cotune.state.get(_STATE)!r}.",
                    "Return cotune.state of the request in cotune.state of its answer, with what "
                    "the turn changed, and keep nothing in global variables.",
                )
        return "Each of two conversations at once got its own state back."

    async def _refuses(self, service: Service) -> str:
        try:
            await self._ask(service, "refuses", {_NOBODY: "Hello."})
        except httpx.HTTPStatusError as error:
            if httpx.codes.is_client_error(error.response.status_code):
                return f"Status {error.response.status_code}."
            raise
        raise _FailureError(
            "A request without any of its agents' prompts was answered all the same.",
            "Take prompts from cotune.prompts only, and answer 400 when an agent's is missing: a "
            "prompt that is taken from elsewhere can never be improved.",
        )

    async def _ask(
        self, service: Service, name: str, prompts: dict[str, str] | None = None
    ) -> Completion:
        asked = Asked(
            prompts=prompts or self.prompts,
            session=f"cotune-check-{name}",
            turn=0,
            state={_STATE: name},
            seed=0,
        )
        return await service.complete([{"role": "user", "content": self.message}], asked)


async def _tried(name: str, check: Awaitable[str], url: str) -> Finding:
    try:
        return Finding(name, Outcome.PASSED, await check)
    except _FailureError as failure:
        return Finding(name, Outcome.FAILED, failure.seen, failure.remedy)
    except FaultError as error:
        remedy = "Mend the field; docs/adapters.md shows a whole request and answer."
        return Finding(name, Outcome.FAILED, error.fault.message, remedy)
    except httpx.HTTPStatusError as error:
        return Finding(name, Outcome.FAILED, str(error), "Look into the service's own log.")
    except httpx.HTTPError as error:
        seen = f"{type(error).__name__}: {error}"
        return Finding(
            name, Outcome.FAILED, seen, f"Start the service; {url} must be its base URL."
        )


def findings_json(found: list[Finding]) -> list[dict[str, Any]]:
    """Return the findings as JSON."""
    return [
        {"check": each.name, "outcome": each.outcome, "seen": each.seen, "remedy": each.remedy}
        for each in found
    ]
