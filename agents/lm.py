"""Language models: `dspy.LM` with a timeout, retries, a budget and a ledger on every call."""

from __future__ import annotations

import asyncio
import logging
import os
import random
import time
from dataclasses import replace
from functools import lru_cache
from typing import Any

# LiteLLM, which dspy falls back to for some providers, would fetch a price list on import.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

import dspy
from dspy.clients.costs import estimate_cost
from dspy.clients.errors import error_boundary
from dspy.clients.model_metadata import model_info
from dspy.lm15 import Request, Response, request_from_openai_chat
from dspy.utils.callback import with_callbacks
from dspy.utils.exceptions import (
    LMError,
    LMRateLimitError,
    LMUnsupportedFeatureError,
    is_retryable_lm_error,
)
from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception,
    stop_after_attempt,
    wait_exponential,
    wait_random,
)

from .adaptive_limit import ProviderLimits
from .budget import Budget
from .errors import CotuneError, FaultError
from .ledger import Ledger, LedgerEntry, Role, Sent, Usage, current_attribution
from .model_failure import ModelUnusableError, explain
from .models import LOCAL, MODEL_STRINGS, SCRIPTED, ModelSettings
from .native_engine import AsyncEngine, NativeEngine
from .scripted.engine import AsyncScriptedEngine, ScriptedEngine

# A cut-off answer is a fault that callers report; dspy would warn about each on the terminal.
logging.getLogger("dspy.clients.lm").setLevel(logging.ERROR)

_JITTER = 0.5
_BACKOFF = wait_exponential(multiplier=0.5, max=30) + wait_random(0, _JITTER)


class LanguageModel(dspy.LM):
    """One model in one role.

    It is a `dspy.LM`, so any dspy program can use it, and makes every call pass the budget,
    a timeout, the retry policy and the ledger. Only the asynchronous interface is offered.
    """

    def __init__(
        self,
        settings: ModelSettings,
        role: Role,
        ledger: Ledger,
        budget: Budget | None = None,
        endpoint: str | None = None,
        weights: str = "",
        limits: ProviderLimits | None = None,
    ) -> None:
        """Connect to nothing yet.

        Args:
            settings: The model and how it is called.
            role: What it is used for.
            ledger: Where its calls are recorded.
            budget: What refuses calls when the money is spent.
            endpoint: Address of the server that a `local:` model runs on.
            weights: What identifies the file that this server serves.
            limits: Of calls in flight, shared with other models of the same provider.

        Raises:
            UsageError: The key's environment variable is not set.
            ModelUnusableError: The model string means nothing.
        """
        self.settings = settings
        self.role = role
        self.ledger = ledger
        self.budget = budget
        self.weights = weights
        self._limit = (limits or ProviderLimits()).of(settings, endpoint)
        name, connection = _connection(settings, endpoint)
        try:
            super().__init__(name, cache=False, num_retries=0, **connection)
            self._direct: AsyncEngine | None = connection.get("async_engine") or NativeEngine.of(
                self, settings.concurrency
            )
        except (ValueError, LMError) as error:
            raise ModelUnusableError(
                f"Model '{settings.model}' cannot be used: {error}. {MODEL_STRINGS}"
            ) from error

    def identity(self) -> dict[str, Any]:
        """Return what determines an answer; part of every journal key."""
        weights = {"weights": self.weights} if self.weights else {}
        return {**self.settings.identity(), **weights}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Refuse: a synchronous call could not be cancelled, bounded or budgeted."""
        raise TypeError("cotune calls models asynchronously: use `await lm.acall(...)`")

    @with_callbacks
    async def acall(self, prompt: Any = None, *, messages: Any = None, **kwargs: Any) -> Any:
        """Call the model, as `dspy.LM.acall` does.

        Args:
            prompt: A `dspy.lm15.Request`, or a text.
            messages: Chat messages instead of a prompt, as dspy's own adapters send them.
            **kwargs: Generation settings beside `messages`.

        Returns:
            A `dspy.lm15.Response` for a request, else a list with the answer's text.

        Raises:
            FaultError: No answer after all attempts; attributed.
            ModelUnusableError: No call can succeed.
            BudgetExhaustedError: The budget allows no further call.
        """
        if isinstance(prompt, Request):
            return await self.respond(prompt)
        body = {"model": self.model, "messages": messages or [{"role": "user", "content": prompt}]}
        response = await self.respond(request_from_openai_chat({**body, **kwargs}))
        return [response.text or ""]

    async def aclose(self) -> None:
        """Close this event loop's connections."""
        if self._direct is not None:
            await self._direct.aclose()
        await super().aclose()

    async def respond(self, request: Request) -> Response:
        """Send one request, with retries; see `acall` for what it raises."""
        request = self._with_defaults(request)
        started = time.monotonic()
        retrying = self._retrying()
        try:
            response = await retrying(self._attempt, request)
        except (TimeoutError, LMError) as error:
            raise self._failed(request, error, _attempts(retrying), started) from error
        self._answered(request, response, _attempts(retrying), started)
        return response

    def _retrying(self) -> AsyncRetrying:
        return AsyncRetrying(
            stop=stop_after_attempt(self.settings.attempts),
            wait=lambda state: _wait(state, self.settings.max_wait),
            retry=retry_if_exception(_is_passing),
            reraise=True,
        )

    async def _attempt(self, request: Request) -> Response:
        round_ = await self._limit.acquire()
        try:
            response = await self._send(request)
        except LMRateLimitError as error:
            self._limit.refused(round_, _asked_wait(error, self.settings.max_wait))
            raise
        else:
            self._limit.answered(round_)
            return response
        finally:
            self._limit.release()

    async def _send(self, request: Request) -> Response:
        if self.budget is not None:
            self.budget.check_call()
        async with asyncio.timeout(self.settings.timeout):
            if self._direct is not None:
                try:
                    with error_boundary(self.model, unexpected=True):
                        return await self._direct.complete(request)
                except LMUnsupportedFeatureError:
                    pass  # what dspy's own client cannot say, LiteLLM may
            with dspy.context(disable_history=True, callbacks=[]):
                return await super().acall(request)

    def _with_defaults(self, request: Request) -> Request:
        config = request.config
        return replace(
            request,
            config=replace(
                config,
                temperature=self.settings.temperature
                if config.temperature is None
                else config.temperature,
                max_tokens=config.max_tokens or self.settings.max_tokens,
            ),
        )

    def _answered(
        self, request: Request, response: Response, attempts: int, started: float
    ) -> None:
        cost = self._cost(request, response)
        usage = Usage(
            calls=1,
            attempts=attempts,
            input_tokens=response.usage.input_tokens or 0,
            output_tokens=response.usage.output_tokens or 0,
            cost=cost or 0.0,
            unpriced=int(cost is None),
        )
        if self.budget is not None:
            self.budget.add(usage)
        adaptations = tuple(str(adaptation.field) for adaptation in response.adaptations)
        self._record(request, usage, started, adaptations=adaptations)

    def _cost(self, request: Request, response: Response) -> float | None:
        if self.settings.is_local or self.settings.is_scripted:
            return 0.0
        usage = response.usage
        if self.settings.price is not None:
            return self.settings.price.of(usage.input_tokens or 0, usage.output_tokens or 0)
        if not any(_is_priced(self._provider_name, name) for name in (response.model, self.model)):
            return None
        cost, _ = estimate_cost(
            response, provider=self._provider_name, requested_model=self.model, request=request
        )
        return cost

    def _failed(
        self, request: Request, error: Exception, attempts: int, started: float
    ) -> CotuneError:
        failure = explain(self.settings, error, attempts)
        kind = failure.fault.kind if isinstance(failure, FaultError) else "unusable"
        self._record(request, Usage(attempts=attempts), started, error=kind)
        return failure

    def _record(
        self,
        request: Request,
        usage: Usage,
        started: float,
        *,
        error: str = "",
        adaptations: tuple[str, ...] = (),
    ) -> None:
        charged = current_attribution()
        sent = Sent(
            self.settings.model,
            request.config.temperature,
            request.config.max_tokens,
            request.config.seed,
            _form(request),
            adaptations,
        )
        seconds = time.monotonic() - started
        self.ledger.record(
            LedgerEntry(self.role, charged.agent, charged.key, sent, usage, seconds, error)
        )


def _connection(settings: ModelSettings, endpoint: str | None) -> tuple[str, dict[str, Any]]:
    """Return dspy's model name and the keyword arguments that connect to it."""
    if settings.is_scripted:
        engine = ScriptedEngine.parse(settings.model.removeprefix(SCRIPTED))
        name = settings.model.partition("?")[0].replace(":", "/")
        return name, {"engine": engine, "async_engine": AsyncScriptedEngine(engine)}
    timeout = {"timeout": settings.timeout}
    if settings.is_local:
        if endpoint is None:
            raise ModelUnusableError(f"'{settings.model}' has no server running for it")
        name = f"openai/{settings.model.removeprefix(LOCAL)}"
        return name, {"api_base": endpoint, "api_key": "none", **timeout}
    options: dict[str, Any] = dict(timeout)
    if settings.api_base is not None:
        options["api_base"] = settings.api_base
    key = settings.api_key() or ("none" if settings.api_base is not None else None)
    if key is not None:
        options["api_key"] = key
    return settings.model, options


@lru_cache(maxsize=256)
def _is_priced(provider: str | None, model: str) -> bool:
    """Remember what dspy would search its whole price list for at every call."""
    return bool(provider and model_info(provider, model))


def _is_passing(error: BaseException) -> bool:
    """Whether the same request may succeed a little later."""
    return isinstance(error, TimeoutError) or (
        isinstance(error, Exception) and is_retryable_lm_error(error)
    )


def _form(request: Request) -> str:
    """Name what the answer had to fit: a JSON schema, a grammar, or nothing."""
    config = request.config
    if config.response_format:
        return str(config.response_format.get("name", ""))
    return "grammar" if (config.extensions or {}).get("grammar") else ""


def _attempts(retrying: AsyncRetrying) -> int:
    return retrying.statistics.get("attempt_number", 1)


def _asked_wait(error: BaseException | None, most: float) -> float | None:
    """Return how long the provider asks to be left alone, if it does, up to `most` seconds."""
    asked = error.retry_after if isinstance(error, LMError) else None
    return None if asked is None else min(asked, most)


def _wait(state: RetryCallState, most: float) -> float:
    """Wait as long as the provider asks, else exponentially longer; with jitter either way."""
    asked = _asked_wait(state.outcome.exception() if state.outcome else None, most)
    if asked is None:
        return min(_BACKOFF(state), most)
    return asked + random.uniform(0, min(_JITTER, most))
