"""An assistant written with Google's Agent Development Kit."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.metadata import version
from typing import Any

from google.adk.agents import BaseAgent
from google.adk.apps import App
from google.adk.events import Event
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.genai import types

from ..assistant import Session
from ..errors import Fault, FaultError, FaultOrigin, UsageError
from ..prompts import Prompt, PromptBundle
from .adapter import Means
from .google_adk_recorder import AdkRecorder
from .google_adk_tree import agents_in, state_names, templated, with_prompts
from .imported import code_identity, imported
from .session import RecordedSession, UnfitSession
from .settings import GoogleAdkSettings

_BUNDLES = 64
_APP, _CUSTOMER, _SESSION = "cotune", "customer", "conversation"
_INTERNAL = "_adk"


@dataclass(frozen=True)
class GoogleAdkAdapter:
    """The agents of an application, from its root agent on; see `Adapter`."""

    settings: GoogleAdkSettings

    @property
    def name(self) -> str:
        """The application's module."""
        return self.settings.name

    @cached_property
    def app(self) -> App:
        """The application, or one that is made of its root agent.

        Raises:
            UsageError: What `path` names is neither.
        """
        found = imported(self.settings)
        if isinstance(found, App) and isinstance(found.root_agent, BaseAgent):
            return found
        if isinstance(found, BaseAgent):
            return App(name=_APP, root_agent=found)
        raise UsageError(
            f"assistant.path: '{self.settings.path}' is {type(found).__name__}; it must be the "
            "root agent of a Google ADK application, or an App with one."
        )

    @property
    def root(self) -> BaseAgent:
        """The agent that customers meet first."""
        root = self.app.root_agent
        assert isinstance(root, BaseAgent)
        return root

    @property
    def prompts(self) -> PromptBundle:
        """The instructions that are text; those that are functions have none to be found."""
        return self._seeds

    @cached_property
    def _seeds(self) -> PromptBundle:
        return PromptBundle.of(
            *(
                Prompt(name, agent.instruction, agent.description)
                for name, agent in agents_in(self.root).items()
                if isinstance(agent.instruction, str) and agent.instruction
            )
        )

    def identity(self) -> Mapping[str, Any]:
        """Return the path, the text of the code and ADK's version."""
        _ = self.app  # its code is known when it has been imported
        return {
            "agent": self.settings.path,
            "code": code_identity(self.settings),
            "google-adk": version("google-adk"),
        }

    def require(self, prompts: PromptBundle, source: str) -> None:
        """Refuse prompts of unknown agents, and names in braces that ADK could not fill in."""
        if (reason := self.unfit(prompts)) is not None:
            raise UsageError(f"The prompts in {source} cannot be used: {reason}")

    def unfit(self, prompts: PromptBundle) -> str | None:
        """Return why prompts would not reach the model as they are written, if so."""
        agents = agents_in(self.root)
        for name, prompt in prompts.items():
            if name not in agents:
                return f"there is no agent '{name}'. The application has: {', '.join(agents)}."
            known = templated(agents[name])
            if known and (new := sorted(state_names(prompt.text) - known)):
                return (
                    f"ADK fills in names in braces in the instruction of '{name}', and nothing is "
                    f"known of '{{{new[0]}}}'. It can name: {', '.join(sorted(known))}."
                )
        return None

    def connect(self, means: Means) -> GoogleAdkAssistant:
        """Return the assistant; ADK and LiteLLM tell of failures by raising them alone."""
        _ = self.app  # what it uses is known when it has been imported
        _keep_quiet()
        return GoogleAdkAssistant(self, means)

    @cached_property
    def instructed(self) -> Callable[[PromptBundle], App]:
        """Copies of the application, one for each bundle: agents keep nothing of conversations."""

        @lru_cache(maxsize=_BUNDLES)
        def instructed(prompts: PromptBundle) -> App:
            root = with_prompts(self.root, agents_in(self.root), prompts)
            return self.app.model_copy(update={"root_agent": root})

        return instructed


def _keep_quiet() -> None:
    """Keep off the terminal what is raised, too; some of it would be printed among results."""
    for name in ("google_adk", "LiteLLM"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    if "google.adk.models.lite_llm" in sys.modules:
        import litellm

        litellm.suppress_debug_info = True


@dataclass(frozen=True)
class GoogleAdkAssistant:
    """See `Assistant`."""

    _adapter: GoogleAdkAdapter
    _means: Means

    @property
    def prompts(self) -> PromptBundle:
        """The instructions that are text."""
        return self._adapter.prompts

    def start(
        self, prompts: PromptBundle, scenario_state: Mapping[str, Any], seed: int = 0
    ) -> Session:
        """Open a conversation; see `Assistant.start`."""
        if (reason := self._adapter.unfit(prompts)) is not None:
            return UnfitSession(scenario_state, reason)
        app = self._adapter.instructed(prompts)
        plugins = [AdkRecorder(self._means), *app.plugins]
        return GoogleAdkSession(app.model_copy(update={"plugins": plugins}), scenario_state)


class GoogleAdkSession(RecordedSession):
    """One conversation; the world is the state of ADK's session, which is kept in memory."""

    def __init__(self, app: App, scenario_state: Mapping[str, Any]) -> None:
        super().__init__(scenario_state)
        self._sessions = InMemorySessionService()
        self._runner = Runner(app=app, session_service=self._sessions)
        self._app = app.name
        self._is_open = False

    async def answer(self, message: str) -> str:
        """Run the application on the message.

        Raises:
            FaultError: No agent said anything.
        """
        if not self._is_open:
            await self._sessions.create_session(
                app_name=self._app, user_id=_CUSTOMER, session_id=_SESSION, state=self.world
            )
            self._is_open = True
        said, failed = "", ""
        async for event in self._runner.run_async(
            user_id=_CUSTOMER, session_id=_SESSION, new_message=types.UserContent(message)
        ):
            said = _text(event) or said
            failed = event.error_code or failed
        session = await self._sessions.get_session(
            app_name=self._app, user_id=_CUSTOMER, session_id=_SESSION
        )
        assert session is not None
        state = session.state.items()
        self.world = {key: value for key, value in state if not key.startswith(_INTERNAL)}
        if not said:
            reason = f"no agent answered ({failed or 'no text'})"
            raise FaultError(Fault(FaultOrigin.ASSISTANT, "no_answer", reason))
        return said


def _text(event: Event) -> str:
    """Return what an agent says to the customer in an event: where several do, the last counts."""
    if not event.is_final_response() or event.partial or event.content is None:
        return ""
    parts = event.content.parts or ()
    return "".join(part.text for part in parts if part.text and not part.thought)
