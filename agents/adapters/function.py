"""An assistant that is one Python function, called once for each message."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, cast

import dspy

from ..agent import Agent
from ..errors import UsageError
from ..lm import LanguageModel
from ..prompts import PromptBundle
from ..recording import agent_call
from .adapter import Means
from .imported import code_identity, imported
from .seeds import Seeds
from .session import RecordedSession
from .settings import FunctionSettings
from .threads import in_thread

_PARAMETERS = 3


class Answer(dspy.Signature):
    """Instructed by the agent's prompt."""

    message: str = dspy.InputField()
    answer: str = dspy.OutputField()


@dataclass
class Conversation:
    """What a function is given of the conversation it is in; nothing is shared between two.

    Attributes:
        state: The state of the world, JSON values: what scenarios start with and checks look at.
        history: Messages and replies so far.
        memory: Anything else that it wants to keep from turn to turn.
        seed: From which to derive whatever is drawn by chance.
    """

    state: dict[str, Any]
    seed: int
    history: list[tuple[str, str]] = field(default_factory=list)
    memory: dict[str, Any] = field(default_factory=dict)
    _prompts: PromptBundle = field(default_factory=PromptBundle, repr=False)
    _lm: LanguageModel | None = field(default=None, repr=False)

    async def ask(self, agent: str, message: str) -> str:
        """Ask an agent through cotune's model, under its prompt; the call is recorded.

        Args:
            agent: Whose prompt is the system message.
            message: What it is told.

        Raises:
            UsageError: There is no such agent, or the configuration names no `models.task`.
            FaultError: The model gave no usable answer.
        """
        if agent not in self._prompts:
            known = ", ".join(self._prompts)
            raise UsageError(f"session.ask: there is no agent '{agent}'; prompts: {known}.")
        if self._lm is None:
            raise UsageError("session.ask needs a model; name one in 'models.task'.")
        seed = self._seeds.draw([agent, message])
        with agent_call(agent, message=message) as call:
            said = await Agent(agent, Answer).call(
                self._prompts[agent], self._lm, {"message": message}, seed
            )
            call.returned(**said)
        return said["answer"]

    @cached_property
    def _seeds(self) -> Seeds:
        return Seeds(self.seed)


Reply = Callable[[str, Mapping[str, str], Conversation], "str | Awaitable[str]"]


@dataclass(frozen=True)
class FunctionAdapter:
    """A function `reply(message, prompts, session)`, async or not; see `Adapter`."""

    settings: FunctionSettings

    @property
    def name(self) -> str:
        """The function's module."""
        return self.settings.name

    @property
    def prompts(self) -> PromptBundle:
        """None: a function is given its prompts, and the configuration says where they are."""
        return PromptBundle()

    def identity(self) -> Mapping[str, Any]:
        """Return the function's path and the text of its code."""
        _ = self.reply  # its code is known when it has been imported
        return {"function": self.settings.path, "code": code_identity(self.settings)}

    def require(self, prompts: PromptBundle, source: str) -> None:
        """Take any prompt: the function receives its text as it is."""

    def connect(self, means: Means) -> FunctionAssistant:
        """Return the assistant."""
        return FunctionAssistant(self.reply, means.lm)

    @cached_property
    def reply(self) -> Reply:
        """The function.

        Raises:
            UsageError: It cannot be imported, or does not take what it will be given.
        """
        found = imported(self.settings)
        if not callable(found):
            raise UsageError(f"assistant.path: '{self.settings.path}' is not a function.")
        try:
            inspect.signature(found).bind(*range(_PARAMETERS))
        except TypeError as error:
            raise UsageError(
                f"assistant.path: '{self.settings.path}' must take (message, prompts, session): "
                f"{error}."
            ) from error
        return cast(Reply, found)


@dataclass(frozen=True)
class FunctionAssistant:
    """See `Assistant`."""

    _reply: Reply
    _lm: LanguageModel | None = None

    @property
    def prompts(self) -> PromptBundle:
        """None of its own."""
        return PromptBundle()

    def start(
        self, prompts: PromptBundle, scenario_state: Mapping[str, Any], seed: int = 0
    ) -> FunctionSession:
        """Open a conversation; see `Assistant.start`."""
        return FunctionSession(self._reply, prompts, scenario_state, seed, self._lm)


class FunctionSession(RecordedSession):
    """One conversation with a function."""

    def __init__(
        self,
        reply: Reply,
        prompts: PromptBundle,
        scenario_state: Mapping[str, Any],
        seed: int,
        lm: LanguageModel | None,
    ) -> None:
        super().__init__(scenario_state)
        self._reply = reply
        self._texts = MappingProxyType(prompts.texts())
        self._conversation = Conversation(self.world, seed, _prompts=prompts, _lm=lm)

    async def answer(self, message: str) -> str:
        """Return what the function returns."""
        conversation = self._conversation
        if inspect.iscoroutinefunction(self._reply):
            said = await self._reply(message, self._texts, conversation)
        else:  # in a thread, or it would hold up all other conversations
            said = await in_thread(self._reply, message, self._texts, conversation)
            said = await said if inspect.isawaitable(said) else said
        if not isinstance(said, str):
            raise TypeError(f"the function must return text, found {type(said).__name__}")
        conversation.history.append((message, said))
        self.world = conversation.state
        return said
