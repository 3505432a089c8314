"""One run of the agent task: a single agent's prompt, on recorded calls of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..agents.adapters.settings import GROCERY
from ..agents.agent import Agent
from ..agents.errors import UsageError
from ..agents.fingerprint import fingerprint
from ..agents.grocery.signatures import AGENTS
from ..agents.ledger import Role
from ..agents.models import ModelSettings
from ..agents.prompts import PromptBundle
from ..optimizer.agent_task import AgentTask
from ..optimizer.example import Splits
from ..optimizer.plan import make_plan
from ..optimizer.proposers.lessons import LessonsProposer
from ..optimizer.proposers.proposer import Proposer
from ..optimizer.proposers.reflection import ReflectionProposer
from ..optimizer.result import RunResult
from ..optimizer.task import Task
from ..rubrics.evaluate import evaluate
from ..rubrics.rubric import Rubric
from ..rubrics.rubric_file import load_rubric
from ..rubrics.subject import CallRecord, SubjectKind
from ..rubrics.verdict import Status
from .config import RunConfig
from .contrast import Contrast
from .run import Built, Means, Run, about_run
from .seed_prompts import load_seed
from .tested_side import Tested, TestedSide, side_of_calls


@dataclass(frozen=True, slots=True)
class AgentRun(Run):
    """A run that optimizes one agent; see `Run`.

    Attributes:
        agent: The agent whose prompt is optimized.
    """

    agent: Agent

    @classmethod
    def prepare(cls, config: RunConfig, name: str, command: str) -> AgentRun:
        """Read and check everything a run needs.

        Raises:
            UsageError: Something is missing or wrong.
            CotuneError: A model cannot be used, or the run's folder cannot be written.
        """
        if config.assistant.kind != GROCERY:
            raise UsageError(
                f"`cotune optimize agent` calls one agent alone, which '{config.assistant.name}' "
                "does not offer. `cotune optimize system` improves its prompts in conversations."
            )
        seed = load_seed(config, name)
        agent, task = AGENTS[name], config.agent_task(name)
        splits = task.load_splits()
        rubric = load_rubric(task.rubric)
        if rubric.subject is not SubjectKind.CALL:
            raise UsageError(
                f"The rubric '{rubric.id}' of agent '{name}' scores a {rubric.subject}; the agent "
                "task needs one with 'subject: call'."
            )
        _require_fitting(splits, agent, rubric)
        plan = make_plan(config, splits)
        folder = config.out / f"{name}-{_run_id(config, seed, rubric)}"
        about = about_run("agent", folder, config, rubric, command)
        return cls(config, seed, splits, rubric, plan, folder, about, agent).checked()

    @property
    def subject(self) -> str:
        """What is optimized, for people."""
        return f"Agent '{self.agent.name}'"

    def models(self) -> Mapping[Role, ModelSettings]:
        """Return the models that it calls, by role."""
        assert self.config.models.task is not None
        models = {Role.TASK: self.config.models.task}
        if self.config.proposer == "reflection" and self.config.models.reflection is not None:
            models[Role.REFLECTION] = self.config.models.reflection
        return models

    def build(self, means: Means) -> Built:
        """Build the task and who writes the prompts."""
        models = means.connect(Role.TASK, Role.REFLECTION)
        seed = self.config.seed
        task = AgentTask(self.agent, self.seed, self.splits, self.rubric, models[Role.TASK], seed)
        proposer: Proposer = LessonsProposer()
        if Role.REFLECTION in models:
            writer = models[Role.REFLECTION]
            proposer = ReflectionProposer(writer, means.journal, means.ledger, seed)
        return Built(task, proposer, list(models.values()))

    def contrasts(self, task: Task[Any], result: RunResult) -> tuple[Contrast, ...]:
        """Return nothing: an example is a single call."""
        return ()

    def side(self, task: Task[Any], rollouts: Sequence[Tested]) -> TestedSide:
        """Return what was played with some prompts, as files keep it."""
        return side_of_calls(self.rubric, rollouts)


def _run_id(config: RunConfig, seed: PromptBundle, rubric: Rubric) -> str:
    """Name what makes a run another run, so that it gets a folder of its own.

    Limits and other settings are left out: a run with a higher limit goes on from the journal of
    the lower one.
    """
    models = (config.models.task, config.models.reflection)
    identities = [model and model.identity() for model in models]
    content = [config.proposer, config.seed, identities, seed.fingerprint, rubric.fingerprint]
    return fingerprint(content, 8)


def _require_fitting(splits: Splits[Any], agent: Agent, rubric: Rubric) -> None:
    """Refuse examples that the agent cannot read or the rubric cannot score."""
    wanted = set(agent.signature.input_fields)
    for split, examples in splits.named().items():
        for example in examples:
            if set(example.inputs) != wanted:
                raise UsageError(
                    f"Example '{example.id}' ({split}): inputs: found "
                    f"{', '.join(sorted(example.inputs))}; agent '{agent.name}' takes "
                    f"{', '.join(sorted(wanted))}."
                )
            verdicts = evaluate(rubric, CallRecord(example.inputs, {}, example.gold))
            if all(verdict.status is Status.NOT_APPLICABLE for verdict in verdicts):
                raise UsageError(
                    f"Example '{example.id}' ({split}): gold: no criterion of the rubric "
                    f"'{rubric.id}' applies; found {', '.join(sorted(example.gold)) or 'none'}."
                )
