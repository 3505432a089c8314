"""An assistant that is a service: one chat completion for each message."""

from __future__ import annotations

import os
import ssl
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import httpx
from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception,
    stop_after_attempt,
    wait_exponential,
)

from ..errors import FaultError, UsageError
from ..prompts import Prompt, PromptBundle
from ..recording import note
from .adapter import Means
from .http_protocol import Asked, Completion, Description, read
from .session import RecordedSession
from .settings import HttpSettings
from .usage import record_usage

_PASSING = frozenset({408, 409, 429, 500, 502, 503, 504, 529})
_BACKOFF = wait_exponential(multiplier=0.5, max=30)
_LONGEST = 300


@dataclass(frozen=True)
class HttpAdapter:
    """A service that speaks OpenAI chat completions with a field `cotune`; see `Adapter`."""

    settings: HttpSettings

    @property
    def name(self) -> str:
        """Its address."""
        return self.settings.name

    @cached_property
    def description(self) -> Description:
        """What the service says of itself; nothing where it does not.

        Raises:
            UsageError: It cannot be reached, or what it says cannot be read.
        """
        service = Service(self.settings)
        try:
            return service.describe()
        except (httpx.HTTPError, FaultError) as error:
            raise UsageError(
                f"assistant.url is '{self.settings.url}', and {service.description_url} cannot be "
                f"read: {error}. Start the service, or mend the address; `cotune adapter check "
                f"{self.settings.url}` says what else is wrong."
            ) from error

    @property
    def prompts(self) -> PromptBundle:
        """Those that the service says it begins with."""
        return PromptBundle.of(
            *(Prompt(agent, text) for agent, text in self.description.prompts.items())
        )

    def identity(self) -> Mapping[str, Any]:
        """Return the address, and the revision of the code that the service names."""
        settings, revision = self.settings, self.description.revision
        return {"url": settings.url, "model": settings.model, "revision": revision}

    def require(self, prompts: PromptBundle, source: str) -> None:
        """Take any prompt: JSON carries every text as it is."""

    def connect(self, means: Means) -> HttpAssistant:
        """Return the assistant.

        Raises:
            UsageError: The environment variable of the token is not set.
        """
        return HttpAssistant(Service(self.settings), means, self.prompts)


@dataclass(frozen=True)
class Service:
    """The service, as one request sees it."""

    settings: HttpSettings

    @property
    def base(self) -> str:
        """The base URL."""
        return self.settings.url.rstrip("/")

    @property
    def description_url(self) -> str:
        """Where it describes itself."""
        return f"{self.base}/cotune"

    @cached_property
    def headers(self) -> Mapping[str, str]:
        """The bearer token, where one is needed.

        Raises:
            UsageError: The environment variable is not set.
        """
        variable = self.settings.api_key_env
        if variable is None:
            return {}
        token = os.environ.get(variable)
        if not token:
            raise UsageError(
                f"assistant.api_key_env names the environment variable {variable}, which is not "
                "set. Set it, or remove the line."
            )
        return {"Authorization": f"Bearer {token}"}

    def describe(self) -> Description:
        """Ask what the service begins with; one that does not say has nothing of its own.

        Raises:
            HTTPError: It cannot be reached.
            FaultError: It answers something else.
        """
        response = httpx.get(
            self.description_url,
            headers=self.headers,
            timeout=self.settings.timeout,
            verify=_certificates(),
        )
        if response.status_code == httpx.codes.NOT_FOUND:
            return Description()
        _require_success(response)
        return read(Description, response.content, self.description_url)

    async def complete(self, messages: list[dict[str, str]], asked: Asked) -> Completion:
        """Ask for the next reply, again where the service is out of order for a while.

        Raises:
            HTTPError: There is none.
            FaultError: It is not as it should be.
        """
        retrying = AsyncRetrying(
            stop=stop_after_attempt(self.settings.attempts),
            wait=self._wait,
            retry=retry_if_exception(_is_passing),
            reraise=True,
        )
        body = {
            "model": self.settings.model,
            "messages": messages,
            "cotune": asked.model_dump(mode="json"),
        }
        return await retrying(self.attempt, body)

    async def attempt(self, body: Mapping[str, Any]) -> Completion:
        """Send one request; see `complete`."""
        url = f"{self.base}/chat/completions"
        # A client of its own: connections belong to an event loop, and there may be several.
        async with httpx.AsyncClient(
            timeout=self.settings.timeout, verify=_certificates()
        ) as client:
            response = await client.post(url, json=body, headers=self.headers)
        _require_success(response)
        return read(Completion, response.content, url)

    def _wait(self, state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        refused = isinstance(error, httpx.HTTPStatusError)
        asked = error.response.headers.get("Retry-After", "") if refused else ""
        seconds = float(asked) if asked.isdigit() else _BACKOFF(state)
        return min(seconds, self.settings.max_wait)


@dataclass(frozen=True)
class HttpAssistant:
    """See `Assistant`."""

    service: Service
    means: Means
    prompts: PromptBundle

    def start(
        self, prompts: PromptBundle, scenario_state: Mapping[str, Any], seed: int = 0
    ) -> HttpSession:
        """Open a conversation; see `Assistant.start`."""
        return HttpSession(self.service, self.means, prompts, scenario_state, seed)


class HttpSession(RecordedSession):
    """One conversation with a service."""

    def __init__(
        self,
        service: Service,
        means: Means,
        prompts: PromptBundle,
        scenario_state: Mapping[str, Any],
        seed: int,
    ) -> None:
        super().__init__(scenario_state)
        self._service = service
        self._means = means
        self._texts = prompts.texts()
        self._seed = seed
        self._name = uuid.uuid4().hex
        self._messages: list[dict[str, str]] = []
        self._turn = 0

    async def answer(self, message: str) -> str:
        """Return what the service says."""
        messages = [*self._messages, {"role": "user", "content": message}]
        asked = Asked(
            prompts=self._texts,
            session=self._name,
            turn=self._turn,
            state=self.world,
            seed=self._seed,
        )
        completion = await self._service.complete(messages, asked)
        told = completion.cotune
        for entry in told.calls:
            note(entry.call())
        for each in told.usage:
            record_usage(self._means, each.agent, each.model, each.input_tokens, each.output_tokens)
        self.world = dict(told.state)
        self._messages = [*messages, {"role": "assistant", "content": completion.text}]
        self._turn += 1
        return completion.text


@lru_cache(maxsize=1)
def _certificates() -> ssl.SSLContext:
    """Read the certificates once: it takes longer than most answers."""
    return ssl.create_default_context()


def _require_success(response: httpx.Response) -> None:
    if response.is_success:
        return
    said = " ".join(response.text.split())[:_LONGEST]
    raise httpx.HTTPStatusError(
        f"{response.request.url} answered {response.status_code}: {said}",
        request=response.request,
        response=response,
    )


def _is_passing(error: BaseException) -> bool:
    if isinstance(error, httpx.HTTPStatusError):
        return error.response.status_code in _PASSING
    return isinstance(error, httpx.TransportError)
