"""Adapters by kind; a framework is imported only where it is used."""

from __future__ import annotations

from .adapter import Adapter
from .settings import AssistantSettings, FunctionSettings, GrocerySettings


def adapter_of(settings: AssistantSettings) -> Adapter:
    """Return the adapter of an assistant.

    Raises:
        UsageError: The framework is not installed, or the assistant cannot be found.
    """
    match settings:
        case GrocerySettings():
            from ..grocery.adapter import GroceryAdapter

            return GroceryAdapter()
        case FunctionSettings():
            from .function import FunctionAdapter

            return FunctionAdapter(settings)
