"""Failed model calls: whose fault they are, or why the model cannot be used at all."""

from __future__ import annotations

from dspy.utils.exceptions import (
    ContextWindowExceededError,
    LMAuthError,
    LMBillingError,
    LMConfigurationError,
    LMInvalidRequestError,
    LMProviderError,
    LMRateLimitError,
    LMTimeoutError,
    LMTransportError,
    LMUnsupportedFeatureError,
    LMUnsupportedModelError,
)

from .counted import counted
from .errors import CotuneError, Fault, FaultError, FaultOrigin
from .models import MODEL_STRINGS, ModelSettings
from .redact import public, without_keys

_IN_PYTHON = ", or pass api_key="  # dspy's advice to those who call it from their own code
_NO_PROVIDER = "LLM Provider NOT provided"  # LiteLLM's words for a prefix it does not know


class ModelUnusableError(CotuneError):
    """The model cannot be used at all: wrong key, unknown name, no credit, no endpoint."""


def explain(settings: ModelSettings, error: Exception, attempts: int) -> CotuneError:
    """Turn what dspy raised into an attributed fault, or into the end of the run.

    Args:
        settings: The model that was called.
        error: What the last attempt raised.
        attempts: How many there were.
    """
    said, tried = _said(settings, error), counted(attempts, "attempt")
    match error:
        case LMAuthError():
            return ModelUnusableError(
                f"Model '{settings.model}' refused the key ({said}). Put a valid key in the "
                "provider's environment variable, or name the variable in 'api_key_env'."
            )
        case LMBillingError() | LMUnsupportedModelError() | LMProviderError(status=404):
            return ModelUnusableError(f"Model '{settings.model}' cannot be used: {said}")
        case LMConfigurationError() | LMUnsupportedFeatureError():
            said = said.partition(_IN_PYTHON)[0]
            return ModelUnusableError(f"Model '{settings.model}' is not set up: {said}")
        case LMInvalidRequestError() if _NO_PROVIDER in said:
            return ModelUnusableError(
                f"Model '{settings.model}' cannot be used: no provider goes by that name. "
                f"{MODEL_STRINGS}"
            )
        case ContextWindowExceededError():
            fault = Fault(
                FaultOrigin.ASSISTANT, "context_window", f"the prompt is too long: {said}"
            )
        case LMRateLimitError():
            fault = Fault(FaultOrigin.PROVIDER, "rate_limit", f"{tried}: {said}")
        case TimeoutError() | LMTimeoutError():
            fault = Fault(
                FaultOrigin.PROVIDER,
                "timeout",
                f"no answer within {settings.timeout:g} s, {tried}",
            )
        case LMTransportError():
            fault = Fault(FaultOrigin.INFRASTRUCTURE, "unreachable", f"{tried}: {said}")
        case LMProviderError():
            fault = Fault(FaultOrigin.PROVIDER, error.code or "provider", said)
        case _:
            fault = Fault(FaultOrigin.INFRASTRUCTURE, "unexpected", said)
    return FaultError(fault)


def _said(settings: ModelSettings, error: Exception) -> str:
    """Return the first line of what the provider said, without secrets."""
    text = public(without_keys(str(error), settings.api_key_env))
    line = text.strip().partition("\n")[0] or type(error).__name__
    return line if len(line) <= 300 else line[:297] + "…"
