"""One message of a chat log in the shape that OpenAI's chat API made common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from .importer import MalformedError, decode


class _Logged(BaseModel):
    # Providers add fields of their own to what they log, so an unknown one is no mistake.
    model_config = ConfigDict(frozen=True, extra="ignore")


class Part(_Logged):
    """A piece of a message's content: text, or something that is not text, such as an image."""

    type: str
    text: str | None = None
    refusal: str | None = None

    @property
    def words(self) -> str | None:
        """What it says; None when it is not text."""
        return self.refusal if self.text is None else self.text


def _arguments(value: object) -> object:
    """Decode the arguments, which are logged as the JSON text that the model wrote."""
    if not isinstance(value, str):
        return value
    arguments = decode(value) if value.strip() else {}
    if not isinstance(arguments, Mapping):
        raise MalformedError("arguments are a JSON object")
    return arguments


def _parts(value: object) -> object:
    return ({"type": "text", "text": value},) if isinstance(value, str) else value


class Function(_Logged):
    """The tool that is asked for, and with what."""

    name: str = Field(min_length=1)
    arguments: Annotated[dict[str, Any], BeforeValidator(_arguments)]


class ToolRequest(_Logged):
    """An assistant's request to call a tool."""

    id: str = Field(min_length=1)
    function: Function


class ChatMessage(_Logged):
    """One message.

    Attributes:
        role: Who speaks; `developer` is a newer name of `system`.
        content: The text, or its parts; null where the assistant only calls tools.
        name: Which of several agents speaks.
        reasoning_content: What the model thought and did not say.
        refusal: What the model said instead of an answer.
        tool_calls: The tools the assistant asks for.
        tool_call_id: Of a tool's result: which request it answers.
    """

    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: Annotated[tuple[Part, ...] | None, BeforeValidator(_parts)] = None
    name: str | None = None
    reasoning_content: str | None = None
    refusal: str | None = None
    tool_calls: tuple[ToolRequest, ...] | None = None
    tool_call_id: str | None = None

    @model_validator(mode="after")
    def _says_or_does_something(self) -> Self:
        if self.content is None and not self.tool_calls and self.refusal is None:
            raise ValueError(f"the {self.role} message has no content")
        if self.tool_calls and self.role != "assistant":
            raise ValueError(f"a message of the role {self.role} cannot call tools")
        if self.role == "tool" and not self.tool_call_id:
            raise ValueError("a tool's result names its call in 'tool_call_id'")
        return self

    @property
    def text(self) -> str:
        """What is said, the text of all parts together."""
        words = [part.words for part in self.content or ()]
        return "\n".join([word for word in words if word] or [self.refusal or ""]).strip()

    @property
    def has_attachments(self) -> bool:
        """Whether a part is not text, and so is lost."""
        return any(part.words is None for part in self.content or ())
