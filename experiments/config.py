"""The configuration of a run: one YAML file, validated before anything is spent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from ..agents.adapters.settings import GROCERY, AssistantSettings, GrocerySettings
from ..agents.errors import UsageError
from ..agents.models import ModelSettings
from ..agents.problem import inconsistent
from ..agents.yaml_file import load_yaml
from ..optimizer.settings import EngineSettings
from ..simulation.conversation import ConversationLimits
from ..simulation.users.settings import AgendaUserSettings, UserSettings, needs_a_model
from .task_config import AgentTaskConfig, SystemConfig, scenarios_at


class Models(BaseModel):
    """Models by role.

    Attributes:
        task: What the agents run on; absent where an assistant has models of its own.
        user: What simulated customers of the kind `llm` run on; as `task` when absent.
        judge: What decides what checks leave open in whole conversations; nobody when absent.
        reflection: What the reflection proposer runs on.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    task: ModelSettings | None = None
    user: ModelSettings | None = None
    judge: ModelSettings | None = None
    reflection: ModelSettings | None = None

    @property
    def of_customers(self) -> ModelSettings | None:
        """What simulated customers run on: one model can do both."""
        return self.user or self.task

    @property
    def of_agents(self) -> str:
        """What the agents run on, for people."""
        return "models of its own" if self.task is None else f"model {self.task.model}"

    @property
    def is_simulated(self) -> bool:
        """Whether a script answers in place of a model."""
        return self.task is not None and self.task.is_scripted


class RaySettings(BaseModel):
    """The Ray cluster that conversations are spread over.

    Attributes:
        workers: Processes that play.
        address: Of a running cluster, in Ray's form; `local` starts one on this computer.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    workers: int = Field(default=2, ge=1, le=1024)
    address: str = Field(default="local", min_length=1)


class SimulationConfig(BaseModel):
    """How conversations are simulated.

    Attributes:
        scenarios: A scenarios file (YAML or JSON lines), or the name of a pack.
        user: Who plays the customer.
        conversation: How long one conversation may go on.
        repeats: Conversations per scenario, each with a seed of its own.
        again: How often a conversation is played again after a fault that is not the assistant's.
        concurrency: Conversations in flight at most.
        ray: The cluster they are spread over; this process alone when absent.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    scenarios: str = Field(default="grocery", min_length=1)
    user: UserSettings = AgendaUserSettings()
    conversation: ConversationLimits = ConversationLimits()
    repeats: int = Field(default=1, ge=1)
    again: int = Field(default=2, ge=0)
    concurrency: int = Field(default=64, ge=1, le=4096)
    ray: RaySettings | None = None


class Tracking(BaseModel):
    """Where MLflow keeps the runs.

    Attributes:
        uri: Tracking URI.
        experiment: Name of the MLflow experiment.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    uri: str = "sqlite:///mlflow.db"
    experiment: str = "cotune"


class RunConfig(EngineSettings):
    """Everything about a run: the engine's settings and what they are applied to.

    Attributes:
        assistant: The assistant under test: `grocery`, or a kind and where it is found.
        prompts: Folder of seed prompts, one AGENT.md each; the assistant's own when absent.
        agents: What each agent is optimized with, by agent name.
        system: What the whole assistant is optimized with.
        simulation: How conversations are simulated.
        models: Models by role.
        proposer: Who writes prompts: `lessons` needs no model, `reflection` needs
            `models.reflection`.
        tracking: Where MLflow keeps the runs.
        out: Folder under which each run has a folder of its own.
    """

    assistant: AssistantSettings = GrocerySettings()
    prompts: Path | None = None
    agents: dict[str, AgentTaskConfig] = Field(default_factory=dict)
    system: SystemConfig = SystemConfig()
    simulation: SimulationConfig = SimulationConfig()
    models: Models = Models()
    proposer: Literal["lessons", "reflection"] = "lessons"
    tracking: Tracking = Tracking()
    out: Path = Path("cotune-runs")

    @model_validator(mode="after")
    def _reflection_has_a_model(self) -> Self:
        if self.proposer == "reflection" and self.models.reflection is None:
            missing = (
                "proposer 'reflection' needs a model here; name one, or use proposer 'lessons', "
                "which needs none"
            )
            raise inconsistent([(("models", "reflection"), missing)])
        return self

    @model_validator(mode="after")
    def _agents_have_a_model(self) -> Self:
        if self.models.task is None and self.assistant.kind == GROCERY:
            missing = "the assistant 'grocery' needs 'task: {model: …}', as openai/gpt-4.1-mini"
            raise inconsistent([(("models",), missing)])
        return self

    @model_validator(mode="after")
    def _customers_have_a_model(self) -> Self:
        if self.models.of_customers is None and needs_a_model(self.simulation.user):
            missing = f"customers of the kind '{self.simulation.user.kind}' need a model here"
            raise inconsistent([(("models", "user"), missing)])
        return self

    def agent_task(self, agent: str) -> AgentTaskConfig:
        """Return what an agent is optimized with.

        Raises:
            UsageError: The configuration does not name the agent.
        """
        if agent not in self.agents:
            known = ", ".join(sorted(self.agents)) or "none"
            raise UsageError(
                f"The configuration has no agent '{agent}' under 'agents'. It has: {known}."
            )
        return self.agents[agent]


def load_config(path: Path, base: Path | None = None) -> RunConfig:
    """Read a configuration.

    Args:
        path: The file.
        base: What relative paths in it are relative to; its own folder by default.

    Raises:
        UsageError: It cannot be used; the message names line, field, what was found and allowed.
    """
    config = load_yaml(RunConfig, path, "configuration")
    base = path.parent if base is None else base
    agents = {name: task.relative_to(base) for name, task in config.agents.items()}
    prompts = None if config.prompts is None else base / config.prompts
    simulation = config.simulation.model_copy(
        update={
            "scenarios": scenarios_at(base, config.simulation.scenarios),
            "user": config.simulation.user.relative_to(base),
        }
    )
    return config.model_copy(
        update={
            "assistant": config.assistant.relative_to(base),
            "agents": agents,
            "system": config.system.relative_to(base),
            "prompts": prompts,
            "simulation": simulation,
            "out": base / config.out,
        }
    )


def config_schema() -> str:
    """Return the JSON schema of the configuration, for editors."""
    return json.dumps(RunConfig.model_json_schema(), indent=2)
