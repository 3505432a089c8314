"""cotune: improve the prompts of multi-agent assistants."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .agents.bundle_source import load_bundle
    from .experiments.api import (
        calibrate,
        compare,
        judge,
        optimize_agent,
        optimize_system,
        simulate,
    )

__version__ = "0.1.0"
__all__ = [
    "calibrate",
    "compare",
    "judge",
    "load_bundle",
    "optimize_agent",
    "optimize_system",
    "simulate",
]


def __getattr__(name: str) -> Any:
    """Import a function when it is asked for: code in production needs `load_bundle` alone."""
    if name == "load_bundle":
        from .agents.bundle_source import load_bundle  # noqa: PLC0415

        return load_bundle
    if name in __all__:
        from .experiments import api  # noqa: PLC0415

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
