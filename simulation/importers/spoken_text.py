"""What was said, out of the inputs and outputs of a traced call, whatever shape they have.

Every framework logs its own shape. What is understood: a text; an object with messages as in
OpenAI's chat or responses API; an object with one text under a usual name, or with one text only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_ASKED = ("message", "query", "question", "input", "prompt", "request", "text", "content")
_ANSWERED = ("reply", "response", "answer", "output", "result", "text", "content", "message")
_CHATS = ("messages", "choices", "input", "output")


def asked(inputs: Any) -> str:
    """Return the customer's message; empty when none is found."""
    return _spoken(inputs, "user", _ASKED)


def answered(outputs: Any) -> str:
    """Return the assistant's reply; empty when none is found."""
    return _spoken(outputs, "assistant", _ANSWERED)


def _spoken(value: Any, role: str, names: Sequence[str]) -> str:
    match value:
        case str():
            return value.strip()
        case Mapping():
            return _in_object(value, role, names)
        case [*messages]:
            return _in_chat(messages, role)
        case _:
            return ""


def _in_object(value: Mapping[str, Any], role: str, names: Sequence[str]) -> str:
    for name in _CHATS:
        chat = value.get(name)
        if isinstance(chat, list) and (said := _in_chat(chat, role)):
            return said
    for name in names:
        if said := _spoken(value.get(name), role, names):
            return said
    texts = [text for text in value.values() if isinstance(text, str)]
    return texts[0].strip() if len(texts) == 1 else ""


def _in_chat(messages: Sequence[Any], role: str) -> str:
    """Return the last message of a role; `choices` wrap theirs in an object of their own."""
    for item in reversed(messages):
        message = item.get("message", item) if isinstance(item, Mapping) else item
        if isinstance(message, Mapping) and message.get("role") == role:
            return _content(message.get("content"))
    return ""


def _content(content: Any) -> str:
    """Return a message's text, its parts joined."""
    if isinstance(content, str):
        return content.strip()
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, Mapping)]
    return "\n".join(text for text in texts if isinstance(text, str)).strip()
