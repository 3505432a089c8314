"""Turns out of chat messages: what happens until the customer speaks again is one turn."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ...agents.assistant import AgentCall, Reply, ToolCall
from ..trajectory import StopReason, Trajectory, Turn
from .chat_message import ChatMessage, ToolRequest
from .importer import MalformedError, decode

UNKNOWN_AGENT = "assistant"

_STOPS = {
    "###STOP###": StopReason.SATISFIED,
    "###TRANSFER###": StopReason.OUT_OF_SCOPE,
    "###OUT-OF-SCOPE###": StopReason.OUT_OF_SCOPE,
}
_STOP_TOKEN = re.compile("|".join(map(re.escape, _STOPS)))
_ERROR_TEXT = re.compile(r"\s*error\b", re.IGNORECASE)


def trajectory_of(
    scenario: str,
    messages: Iterable[ChatMessage],
    metadata: Mapping[str, Any],
    stop: StopReason = StopReason.OPEN,
) -> Trajectory:
    """Read a logged chat.

    Simulated customers end with a token such as `###STOP###`; it becomes the stop reason.

    Args:
        scenario: The conversation's id.
        messages: The chat, oldest first.
        metadata: Kept, beside `system`, `greeting`, `unanswered` and `missing`.
        stop: Why the chat ended where the customer does not say it.

    Raises:
        MalformedError: The messages do not make a conversation.
    """
    chat = _Chat()
    for number, message in enumerate(messages, start=1):
        try:
            chat.take(message)
        except MalformedError as error:
            raise MalformedError(f"message {number}: {error}") from error
    if not chat.turns:
        raise MalformedError("no customer message has an answer")
    stop = chat.stop or stop
    kept = {"system": chat.system, "greeting": chat.greeting.said, "unanswered": chat.waiting}
    texts = {name: "\n\n".join(said) for name, said in kept.items() if said}
    missing = [*chat.missing(), *(["stop"] if stop is StopReason.OPEN else [])]
    return Trajectory(
        scenario=scenario,
        turns=tuple(chat.whole_turns()),
        initial_state={},
        stop=stop,
        metadata={**metadata, **texts, "missing": missing},
    )


@dataclass(slots=True)
class _OpenTurn:
    """What was said and done since the customer spoke."""

    message: str
    said: list[str] = field(default_factory=list)
    calls: list[AgentCall | ToolCall] = field(default_factory=list)


@dataclass(slots=True)
class _Chat:
    """A chat while it is read."""

    system: list[str] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    greeting: _OpenTurn = field(default_factory=lambda: _OpenTurn(""))
    turns: list[_OpenTurn] = field(default_factory=list)
    stop: StopReason | None = None
    open_calls: dict[str, tuple[_OpenTurn, int]] = field(default_factory=dict)
    has_names: bool = False
    has_attachments: bool = False

    def take(self, message: ChatMessage) -> None:
        """Read one message."""
        self.has_attachments |= message.has_attachments
        match message.role:
            case "system" | "developer":
                self.system.append(message.text)
            case "user":
                self._hear(message.text)
            case "assistant":
                self._answer(message)
            case "tool":
                self._return(message.tool_call_id or "", message.text)

    def missing(self) -> Iterator[str]:
        """Yield what trajectories of our own have and this chat lacks."""
        yield "state"
        if not self.has_names:
            yield "agents"
        if self.open_calls:
            yield "tool_results"
        if not all(turn.said for turn in self.turns):
            yield "reply"
        if self.has_attachments:
            yield "attachments"

    def whole_turns(self) -> Iterator[Turn]:
        """Yield the turns; what the assistant did before the first belongs to the first."""
        before = self.greeting.calls
        for turn in self.turns:
            reply = Reply("\n\n".join(turn.said), (*before, *turn.calls))
            yield Turn(turn.message, reply, {})
            before = []

    def _hear(self, text: str) -> None:
        for token in _STOP_TOKEN.findall(text):
            self.stop = _STOPS[token]
        words = _STOP_TOKEN.sub("", text).strip()
        if words:
            self.waiting.append(words)

    def _answer(self, message: ChatMessage) -> None:
        if self.waiting:
            self.turns.append(_OpenTurn("\n\n".join(self.waiting)))
            self.waiting = []
        turn = self.turns[-1] if self.turns else self.greeting
        agent = message.name or UNKNOWN_AGENT
        self.has_names |= message.name is not None
        outputs = _outputs(message)
        if outputs:
            turn.calls.append(AgentCall(agent, {}, outputs))
        if message.text:
            turn.said.append(message.text)
        for request in message.tool_calls or ():
            self._call(turn, agent, request)

    def _call(self, turn: _OpenTurn, agent: str, request: ToolRequest) -> None:
        if request.id in self.open_calls:
            raise MalformedError(f"the tool call id '{request.id}' is in use by an earlier call")
        self.open_calls[request.id] = turn, len(turn.calls)
        turn.calls.append(
            ToolCall(request.function.name, agent, request.function.arguments, result=None)
        )

    def _return(self, call_id: str, text: str) -> None:
        if call_id not in self.open_calls:
            raise MalformedError(f"no tool call waits for the result of '{call_id}'")
        turn, place = self.open_calls.pop(call_id)
        call = turn.calls[place]
        assert isinstance(call, ToolCall)
        result = _result(text)
        turn.calls[place] = replace(call, result=result, error=_error(result))


def _outputs(message: ChatMessage) -> dict[str, str]:
    """Return what is known of the agent's own output beside what the customer reads."""
    outputs = {"thought": message.reasoning_content or ""}
    if message.name:
        outputs["text"] = message.text
    return {name: text for name, text in outputs.items() if text}


def _result(text: str) -> Any:
    """Return a tool's result, decoded where it is a JSON object or list."""
    if not text.startswith(("{", "[")):
        return text
    try:
        return decode(text)
    except MalformedError:  # a text that begins with a bracket
        return text


def _error(result: Any) -> str:
    """Return what a tool says went wrong; empty when it says nothing of the kind."""
    match result:
        case {"error": str(said)}:
            return said
        case str() if _ERROR_TEXT.match(result):
            return result
        case _:
            return ""
