"""How prompts are improved: one engine on gepa, the tasks it serves, proposers and guards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .optimizing import optimize

__all__ = ["optimize"]


def __getattr__(name: str) -> Any:
    """Import `optimize` when it is asked for: the engine is heavy, its settings are not."""
    if name == "optimize":
        from .optimizing import optimize  # noqa: PLC0415

        return optimize
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
