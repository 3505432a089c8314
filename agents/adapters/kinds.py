"""Adapters by kind; a framework is imported only where it is used."""

from __future__ import annotations

from .adapter import Adapter
from .imported import require_installed
from .settings import (
    AssistantSettings,
    DspySettings,
    FunctionSettings,
    GoogleAdkSettings,
    GrocerySettings,
    HttpSettings,
    LangGraphSettings,
    OpenAIAgentsSettings,
    PydanticAISettings,
)


def adapter_of(settings: AssistantSettings) -> Adapter:  # noqa: PLR0911  one case for each kind
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
        case DspySettings():
            from .dspy_program import DspyAdapter

            return DspyAdapter(settings)
        case HttpSettings():
            from .http import HttpAdapter

            return HttpAdapter(settings)
        case LangGraphSettings():
            require_installed("langgraph", "langgraph", settings.kind)
            from .lang_graph import LangGraphAdapter

            return LangGraphAdapter(settings)
        case GoogleAdkSettings():
            require_installed("google.adk", "google-adk", settings.kind)
            from .google_adk import GoogleAdkAdapter

            return GoogleAdkAdapter(settings)
        case OpenAIAgentsSettings():
            require_installed("agents", "openai-agents", settings.kind)
            from .openai_agents import OpenAIAgentsAdapter

            return OpenAIAgentsAdapter(settings)
        case PydanticAISettings():
            require_installed("pydantic_ai", "pydantic-ai-slim", settings.kind)
            from .pydantic_ai import PydanticAIAdapter

            return PydanticAIAdapter(settings)
