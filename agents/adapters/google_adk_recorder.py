"""What a Google ADK application does in a turn, as ADK tells its plugins."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from google.adk.agents.callback_context import CallbackContext
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.tool_context import ToolContext
from google.genai import types

from ..assistant import AgentCall, ToolCall
from ..recording import as_json, note
from .adapter import Means
from .usage import record_usage


@dataclass(frozen=True, slots=True)
class _Asked:
    """A model's call that is under way."""

    model: str
    messages: list[Any]
    since: float


class AdkRecorder(BasePlugin):
    """Notes each call of a model and of a tool in one conversation, and changes nothing."""

    def __init__(self, means: Means) -> None:
        super().__init__(name="cotune")
        self._means = means
        self._asked: dict[tuple[str, str], _Asked] = {}

    async def before_model_callback(
        self, *, callback_context: CallbackContext, llm_request: LlmRequest
    ) -> None:
        """Note what the agent sends, its instruction apart."""
        messages = [_plain(content) for content in llm_request.contents]
        self._asked[_turn_of(callback_context)] = _Asked(
            llm_request.model or "", messages, time.monotonic()
        )

    async def after_model_callback(
        self, *, callback_context: CallbackContext, llm_response: LlmResponse
    ) -> None:
        """Note what the model answered, and what it used."""
        if llm_response.partial:
            return
        asked, agent = self._asked.pop(_turn_of(callback_context)), callback_context.agent_name
        used = llm_response.usage_metadata
        record_usage(
            self._means,
            agent,
            llm_response.model_version or asked.model,
            None if used is None else used.prompt_token_count,
            None if used is None else _written(used),
            time.monotonic() - asked.since,
        )
        note(AgentCall(agent, {"messages": asked.messages}, _plain(llm_response.content)))

    async def on_model_error_callback(
        self, *, callback_context: CallbackContext, llm_request: LlmRequest, error: Exception
    ) -> None:
        """Note that there was no answer."""
        asked = self._asked.pop(_turn_of(callback_context))
        note(AgentCall(callback_context.agent_name, {"messages": asked.messages}, {}))

    async def after_tool_callback(
        self,
        *,
        tool: BaseTool,
        tool_args: dict[str, Any],
        tool_context: ToolContext,
        result: Any,
    ) -> None:
        """Note what the tool returned."""
        agent = tool_context.agent_name
        note(ToolCall(tool.name, agent, as_json(tool_args), as_json(result)))

    async def on_tool_error_callback(
        self,
        *,
        tool: BaseTool,
        tool_args: dict[str, Any],
        tool_context: ToolContext,
        error: Exception,
    ) -> None:
        """Note what the tool refused."""
        said = str(error) or type(error).__name__
        note(ToolCall(tool.name, tool_context.agent_name, as_json(tool_args), None, said))


def _turn_of(context: CallbackContext) -> tuple[str, str]:
    """An agent has one call of its model under way at a time in an invocation."""
    return context.invocation_id, context.agent_name


def _plain(content: types.Content | None) -> dict[str, Any]:
    return {} if content is None else content.model_dump(mode="json", exclude_none=True)


def _written(used: types.GenerateContentResponseUsageMetadata) -> int | None:
    """Return all tokens that are paid as output: thoughts are, too."""
    if used.candidates_token_count is None:
        return None
    return used.candidates_token_count + (used.thoughts_token_count or 0)
