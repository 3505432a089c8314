"""Settings of the assistant under test: the reference assistant, or a team's own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

GROCERY = "grocery"
_PATH = r"^[A-Za-z_][\w.]*:[A-Za-z_][\w.]*$"

Place = Annotated[str, Field(pattern=_PATH)]
"""Where something is imported from, `module:attribute`."""


class _AssistantSettings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    def relative_to(self, base: Path) -> Self:
        """Return the settings with folders under `base`."""
        return self


class GrocerySettings(_AssistantSettings):
    """The grocery assistant that comes with cotune."""

    kind: Literal["grocery"] = GROCERY

    @property
    def name(self) -> str:
        """What people call it."""
        return GROCERY


class ImportedSettings(_AssistantSettings):
    """An assistant in Python, found by its import path.

    Attributes:
        path: `module:attribute`.
        folder: From where the module is imported; the configuration's own by default.
    """

    path: str = Field(pattern=_PATH)
    folder: Path = Path()

    @property
    def name(self) -> str:
        """What people call it: its module."""
        return self.path.partition(":")[0]

    def relative_to(self, base: Path) -> Self:
        """Return the settings with the folder under `base`."""
        return self.model_copy(update={"folder": base / self.folder})


class FunctionSettings(ImportedSettings):
    """A function `reply(message, prompts, session)`; its prompts come from `prompts`."""

    kind: Literal["function"]


class DspySettings(ImportedSettings):
    """A DSPy program: a module, or a class or function that makes one, perhaps from the state.

    Attributes:
        input: The input that gets the customer's message; the first one when absent.
        output: The output that is the reply; the only one when absent, reasoning left aside.
    """

    kind: Literal["dspy"]
    input: str | None = None
    output: str | None = None


class HttpSettings(_AssistantSettings):
    """A service that speaks OpenAI chat completions, extended as `docs/adapters.md` says.

    Attributes:
        url: Its base URL, to which `/chat/completions` is added.
        model: What requests name as the model.
        api_key_env: Name of the environment variable that holds a bearer token, never the token.
        timeout: Seconds for one attempt.
        attempts: Requests sent at most for one reply, the first included.
        max_wait: Seconds between two attempts at most.
    """

    kind: Literal["http"]
    url: str = Field(pattern=r"^https?://[^/\s]+")
    model: str = Field(default="assistant", min_length=1)
    api_key_env: str | None = None
    timeout: float = Field(default=120.0, gt=0)
    attempts: int = Field(default=4, ge=1, le=20)
    max_wait: float = Field(default=30.0, ge=0)

    @property
    def name(self) -> str:
        """What people call it: its address."""
        return self.url.partition("://")[2].rstrip("/")


class LangGraphSettings(ImportedSettings):
    """A LangGraph graph that is given its prompts when it runs, or a factory `build(prompts)`.

    Attributes:
        prompts: `module:attribute` of the mapping with the seed prompts, node by node; absent
            where they are files in the configuration's `prompts`.
        field: Under which name a graph reads its prompts: of its context's schema where that has
            such a field, else in `config["configurable"]`.
    """

    kind: Literal["langgraph"]
    prompts: str | None = Field(default=None, pattern=_PATH)
    field: str = Field(default="prompts", min_length=1)


class GoogleAdkSettings(ImportedSettings):
    """The root agent of a Google ADK application; its sub-agents come with it."""

    kind: Literal["google-adk"]


class OpenAIAgentsSettings(ImportedSettings):
    """An agent of the OpenAI Agents SDK, or a function without arguments that returns one.

    Attributes:
        texts: By agent, `module:TEXT`: the text that is tuned in what a function returns as the
            agent's instructions.
        context: `module:attribute` of what makes a run's context; it takes the fields of a
            scenario's initial state. The state itself is the context when absent.
        max_turns: Calls of models in one run at most.
    """

    kind: Literal["openai-agents"]
    texts: dict[str, Place] = Field(default_factory=dict)
    context: Place | None = None
    max_turns: int = Field(default=10, ge=1)


class PydanticAISettings(ImportedSettings):
    """An agent of Pydantic AI, or a function `reply(message, session)` that runs some.

    Attributes:
        agents: By the name of their prompts, `module:attribute` of the agents that are tuned; the
            agent that `path` names when absent.
        deps: `module:attribute` of what makes an agent's dependencies; it takes the fields of a
            scenario's initial state. The state itself is given when absent.
    """

    kind: Literal["pydantic-ai"]
    agents: dict[Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]*$")], Place] = Field(
        default_factory=dict
    )
    deps: Place | None = None


def _named(value: Any) -> Any:
    """Allow the name alone for the assistant that needs no settings."""
    return {"kind": GROCERY} if value == GROCERY else value


_Kinds = Annotated[
    GrocerySettings
    | FunctionSettings
    | DspySettings
    | HttpSettings
    | LangGraphSettings
    | GoogleAdkSettings
    | OpenAIAgentsSettings
    | PydanticAISettings,
    Field(discriminator="kind"),
]
AssistantSettings = Annotated[
    _Kinds, BeforeValidator(_named, json_schema_input_type=Literal["grocery"] | _Kinds)
]
"""Every kind of assistant; the name alone stands for the one that needs no settings."""
