"""One run of the agent task, from its configuration to its record and report."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

from ..agents.agent import Agent
from ..agents.budget import Budget, BudgetExhaustedError
from ..agents.errors import CotuneError, UsageError
from ..agents.fingerprint import fingerprint
from ..agents.grocery.assistant import PROMPTS
from ..agents.grocery.signatures import AGENTS
from ..agents.ledger import Ledger, Role
from ..agents.lm import LanguageModel
from ..agents.prompts import Prompt, PromptBundle
from ..optimizer.agent_task import AgentTask
from ..optimizer.engine import Engine
from ..optimizer.example import Splits
from ..optimizer.observer import Observer
from ..optimizer.plan import Plan, make_plan
from ..optimizer.proposers.lessons import LessonsProposer
from ..optimizer.proposers.proposer import Proposer
from ..optimizer.proposers.reflection import ReflectionProposer
from ..optimizer.result import RunResult
from ..rubrics.evaluate import evaluate
from ..rubrics.rubric import Rubric
from ..rubrics.rubric_file import load_rubric
from ..rubrics.subject import CallRecord
from ..rubrics.verdict import Status
from ..simulation.journal import Journal
from .config import RunConfig
from .model_access import check_reachable, open_models
from .run_folder import JOURNAL, make_writable
from .run_record import RunAbout, installed_versions


@dataclass(frozen=True, slots=True)
class AgentRun:
    """Everything about a run that can be checked before anything is spent.

    Attributes:
        config: The configuration.
        agent: The agent whose prompt is optimized.
        seed: Its seed prompt.
        splits: Its examples.
        rubric: What they are scored by.
        plan: What the budget buys.
        folder: The run's own folder.
        about: What is known before it begins.
    """

    config: RunConfig
    agent: Agent
    seed: PromptBundle
    splits: Splits
    rubric: Rubric
    plan: Plan
    folder: Path
    about: RunAbout

    @classmethod
    def prepare(cls, config: RunConfig, name: str, command: str) -> AgentRun:
        """Read and check everything a run needs.

        Raises:
            UsageError: Something is missing or wrong.
            CotuneError: The run's folder cannot be written.
        """
        agent = _agent(name)
        task = config.agent_task(name)
        seed = _seed(config, name)
        _require_known_placeholders(seed[name], agent, config.prompts or PROMPTS)
        splits = task.load_splits()
        rubric = load_rubric(task.rubric)
        if rubric.subject != "call":
            raise UsageError(
                f"The rubric '{rubric.id}' of agent '{name}' scores a {rubric.subject}; the agent "
                "task needs one with 'subject: call'."
            )
        _require_fitting(splits, agent, rubric)
        plan = make_plan(config, splits)
        folder = config.out / f"{name}-{_run_id(config, seed, rubric)}"
        about = RunAbout(
            name=folder.name,
            kind="agent",
            config=config.model_dump(mode="json"),
            rubric=rubric,
            simulated=config.models.task.is_scripted,
            versions=installed_versions(),
            command=command,
        )
        make_writable(folder)
        return cls(config, agent, seed, splits, rubric, plan, folder, about)

    def journal(self) -> Journal:
        """Open the run's journal."""
        return Journal(self.folder / JOURNAL)

    def execute(self, journal: Journal, observer: Observer) -> RunResult:
        """Run it, or go on with it.

        Raises:
            CotuneError: A model cannot be used, the run paused, or the budget does not suffice.
        """
        ledger, budget = Ledger(), Budget(self.config.limits)
        wanted = {Role.TASK: self.config.models.task}
        if self.config.proposer == "reflection" and self.config.models.reflection is not None:
            wanted[Role.REFLECTION] = self.config.models.reflection
        with open_models(wanted, ledger, budget) as models:
            return asyncio.run(self._run(journal, observer, ledger, budget, models))

    async def _run(
        self,
        journal: Journal,
        observer: Observer,
        ledger: Ledger,
        budget: Budget,
        models: dict[Role, LanguageModel],
    ) -> RunResult:
        for model in models.values():
            await check_reachable(model)
        task = AgentTask(
            self.agent, self.seed, self.splits, self.rubric, models[Role.TASK], self.config.seed
        )
        proposer: Proposer = LessonsProposer()
        if Role.REFLECTION in models:
            reflection = models[Role.REFLECTION]
            proposer = ReflectionProposer(reflection, journal, ledger, self.config.seed)
        engine = Engine(task, self.config, proposer, journal, ledger, budget, observer)
        try:
            return await engine.run()
        except BudgetExhaustedError as error:
            raise CotuneError(
                f"The budget ended before the seed prompt was scored: {error.limit}. Allow more "
                "under 'limits' in the configuration, and the run goes on from here."
            ) from error


def _run_id(config: RunConfig, seed: PromptBundle, rubric: Rubric) -> str:
    """Name what makes a run another run, so that it gets a folder of its own.

    Limits and other settings are left out: a run with a higher limit goes on from the journal of
    the lower one.
    """
    models = (config.models.task, config.models.reflection)
    identities = [model and model.identity() for model in models]
    content = [config.proposer, config.seed, identities, seed.fingerprint, rubric.fingerprint]
    return fingerprint(content, 8)


def _agent(name: str) -> Agent:
    if name not in AGENTS:
        raise UsageError(
            f"The assistant 'grocery' has no agent '{name}'. It has: {', '.join(AGENTS)}."
        )
    return AGENTS[name]


def _seed(config: RunConfig, name: str) -> PromptBundle:
    folder = config.prompts or PROMPTS
    prompts = PromptBundle.load(folder)
    if name not in prompts:
        raise UsageError(
            f"The prompts folder {folder} has no {name}.md. It has: {', '.join(prompts)}."
        )
    return prompts.only(name)


def _require_known_placeholders(prompt: Prompt, agent: Agent, folder: Path) -> None:
    known = list(agent.signature.input_fields)
    unknown = sorted(prompt.placeholders - set(known))
    if unknown:
        raise UsageError(
            f"The prompt {folder / prompt.agent}.md has the placeholder "
            f"'{{{{ {unknown[0]} }}}}', for which the assistant has no value. It can name the "
            f"agent's inputs: {', '.join(known)}."
        )


def _require_fitting(splits: Splits, agent: Agent, rubric: Rubric) -> None:
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
