"""What a framework's own calls of models used, put on the ledger and the budget."""

from __future__ import annotations

from functools import lru_cache

from dspy.clients.model_metadata import model_info, rate

from ..ledger import LedgerEntry, Role, Sent, Usage, current_attribution
from .adapter import Means

_NAMESPACES = ("openai", "anthropic", "gemini", "vertex_ai", "mistral", "deepseek", "xai", "groq")


def record_usage(
    means: Means,
    agent: str,
    model: str,
    input_tokens: int | None,
    output_tokens: int | None,
    seconds: float = 0.0,
) -> None:
    """Record one answered call of a model; may be called in any thread.

    The budget counts it, but cannot refuse a framework's next call: a limit of tokens or money
    is enforced between conversations.

    Args:
        means: What the assistant was connected with.
        agent: The agent's name in the prompt bundle; the one at work when empty.
        model: The model's name, as the framework reports it.
        input_tokens: Tokens read; None where none were reported.
        output_tokens: Tokens written; None where none were reported.
        seconds: Wall time of the call.
    """
    charged = current_attribution()
    cost = None
    if input_tokens is not None and output_tokens is not None:
        cost = cost_of(model, input_tokens, output_tokens)
    usage = Usage(
        calls=1,
        attempts=1,
        input_tokens=input_tokens or 0,
        output_tokens=output_tokens or 0,
        cost=cost or 0.0,
        unpriced=int(cost is None),
    )
    if means.budget is not None:
        means.budget.add(usage)
    sent = Sent(model, None, None, None)
    means.ledger.record(
        LedgerEntry(Role.TASK, agent or charged.agent, charged.key, sent, usage, seconds)
    )


@lru_cache(maxsize=256)
def _rates(model: str) -> tuple[float | None, float | None]:
    """Return US dollars per token read and written; a name may start with its provider."""
    provider, _, name = model.rpartition("/")
    info = model_info(provider, name, namespaces=(provider,) if provider else _NAMESPACES)
    return rate(info, "input_cost_per_token"), rate(info, "output_cost_per_token")


def cost_of(model: str, input_tokens: int, output_tokens: int) -> float | None:
    """Return US dollars at the provider's list price; None for a model whose price is unknown."""
    read, written = _rates(model)
    if read is None or written is None:
        return None
    return input_tokens * read + output_tokens * written
