"""The fields by which a service in any language takes part: OpenAI chat completions and `cotune`.

`docs/adapters.md` says what each means. Standard fields that do not matter here are ignored; in
the field `cotune`, whatever is not known is refused, so that a mistyped name cannot go unnoticed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Discriminator, Field, JsonValue, Tag, ValidationError

from ..assistant import AgentCall, ToolCall
from ..errors import Fault, FaultError, FaultOrigin

VERSION = 1
_Read = TypeVar("_Read", bound=BaseModel)
AgentName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_.-]*$")]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Standard(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class Asked(_Strict):
    """The field `cotune` of a request.

    Attributes:
        version: Of this protocol.
        prompts: What each agent is told, by name.
        session: Names the conversation; another for each.
        turn: Number of the customer's message, from 0; the same again when it is sent again.
        state: The state of the world as the last answer left it.
        seed: From which to derive whatever is drawn by chance.
    """

    version: int = VERSION
    prompts: dict[str, str]
    session: str
    turn: int
    state: dict[str, JsonValue]
    seed: int


class AgentEntry(_Strict):
    """One call of one agent."""

    agent: AgentName
    inputs: dict[str, JsonValue] = Field(default_factory=dict)
    outputs: dict[str, JsonValue] = Field(default_factory=dict)

    def call(self) -> AgentCall:
        """Return it as a session reports it."""
        return AgentCall(self.agent, self.inputs, self.outputs)


class ToolEntry(_Strict):
    """One call of one tool."""

    tool: str = Field(min_length=1)
    agent: str = ""
    arguments: dict[str, JsonValue] = Field(default_factory=dict)
    result: JsonValue = None
    error: str = ""

    def call(self) -> ToolCall:
        """Return it as a session reports it."""
        return ToolCall(self.tool, self.agent, self.arguments, self.result, self.error)


def _kind(entry: Any) -> str:
    return "tool" if isinstance(entry, Mapping) and "tool" in entry else "agent"


Entry = Annotated[
    Annotated[ToolEntry, Tag("tool")] | Annotated[AgentEntry, Tag("agent")], Discriminator(_kind)
]


class Spent(_Strict):
    """What an agent's calls of one model used in this turn."""

    agent: str = ""
    model: str = Field(min_length=1)
    input_tokens: int = Field(ge=0)
    output_tokens: int = Field(ge=0)


class Told(_Strict):
    """The field `cotune` of an answer: calls in order, the new state, and what was used."""

    calls: list[Entry]
    state: dict[str, JsonValue]
    usage: list[Spent] = Field(default_factory=list)


class _Message(_Standard):
    content: str


class _Choice(_Standard):
    message: _Message


class Completion(_Standard):
    """An answer of the service."""

    choices: list[_Choice] = Field(min_length=1)
    cotune: Told

    @property
    def text(self) -> str:
        """What the assistant says."""
        return self.choices[0].message.content


class Description(_Strict):
    """What `GET /cotune` returns.

    Attributes:
        version: Of this protocol.
        revision: What changes whenever the service's code does, such as a commit.
        prompts: The seed prompts by agent name; empty where they are files of the configuration.
    """

    version: int = Field(default=VERSION, ge=VERSION, le=VERSION)
    revision: str = ""
    prompts: dict[AgentName, str] = Field(default_factory=dict)


def read(model: type[_Read], body: bytes, where: str) -> _Read:
    """Read what a service sent.

    Args:
        model: What it should be.
        body: JSON.
        where: It came from, for the message.

    Raises:
        FaultError: It is something else; the message names the first field that is wrong.
    """
    try:
        return model.model_validate_json(body)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(step) for step in first["loc"] if step not in ("tool", "agent"))
        last = str(first["loc"][-1]) if first["loc"] else ""
        place = f"{place}.{last}" if last in ("tool", "agent") else place
        named = (
            f"the field '{place.lstrip('.')}' is wrong" if place else "it is not as it should be"
        )
        said = f"{where} answered, but {named}: {first['msg']} (see docs/adapters.md, HTTP)"
        raise FaultError(Fault(FaultOrigin.INFRASTRUCTURE, "protocol", said)) from error
