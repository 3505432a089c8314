"""Mining scenarios: each conversation of a file is looked at once, by rules or by a model."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..agents.budget import Budget, Limits
from ..agents.errors import UsageError
from ..agents.ledger import Ledger, Role
from ..agents.models import ModelSettings
from ..agents.prompts import read_prompt
from ..optimizer.proposers.proposer import ProposalFailedError
from ..optimizer.proposers.reflection_model import ReflectionModel
from ..simulation.journal import Journal
from ..simulation.mining.by_model import (
    INSTRUCTIONS,
    MineScenario,
    answered,
    inputs_of,
    unanswered,
)
from ..simulation.mining.by_rules import proposed
from ..simulation.mining.proposal import Proposal, with_families
from ..simulation.trajectory import Trajectory
from ..simulation.trajectory_file import read_trajectories
from .model_access import check_reachable, open_models, require_known
from .run_folder import JOURNAL

Found = tuple[Trajectory, Proposal]


@dataclass(frozen=True, slots=True)
class MiningModel:
    """The model that reads conversations.

    Attributes:
        settings: The model.
        limits: What may be spent.
        folder: Where its answers are journaled.
    """

    settings: ModelSettings
    limits: Limits
    folder: Path


def mine_by_rules(logs: Path) -> list[Found]:
    """Return what rules propose for the conversations of a file, without those that say nothing.

    Raises:
        UsageError: The file cannot be read, or nobody said anything in it.
    """
    looked_at = enumerate(read_trajectories(logs), start=1)
    found = [(each, proposal) for number, each in looked_at if (proposal := proposed(number, each))]
    if not found:
        raise UsageError(f"{logs} holds no conversation in which a customer said something.")
    return found


def mine(logs: Path, model: MiningModel | None, ledger: Ledger) -> list[Proposal]:
    """Propose a scenario for each conversation of a file.

    Args:
        logs: Trajectories, as JSON lines.
        model: Who reads them; rules alone when None.
        ledger: Where calls are counted.

    Raises:
        UsageError: The file or the model cannot be used.
        CotuneError: The model does not answer, or the budget does not suffice; what was paid for
            is in the journal.
    """
    found = mine_by_rules(logs)
    if model is None:
        return with_families(proposal for _, proposal in found)
    require_known({Role.REFLECTION: model.settings})
    model.folder.mkdir(parents=True, exist_ok=True)
    with Journal(model.folder / JOURNAL) as journal:
        return with_families(_read(found, model, journal, ledger))


def _read(
    found: Sequence[Found], model: MiningModel, journal: Journal, ledger: Ledger
) -> list[Proposal]:
    settings, budget = {Role.REFLECTION: model.settings}, Budget(model.limits)
    with open_models(settings, ledger, budget) as models:
        lm = models[Role.REFLECTION]
        reader = ReflectionModel(lm, journal, ledger, random_seed=0)

        async def all_of_them() -> list[Proposal]:
            await check_reachable(lm)
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(_ask(reader, *each)) for each in found]
            return [task.result() for task in tasks]

        try:
            return asyncio.run(all_of_them())
        except* Exception as failures:  # one is enough to say
            raise failures.exceptions[0] from None


async def _ask(reader: ReflectionModel, conversation: Trajectory, by_rules: Proposal) -> Proposal:
    try:
        answer = await reader.ask(MineScenario, read_prompt(INSTRUCTIONS), inputs_of(conversation))
    except ProposalFailedError:
        return unanswered(by_rules)
    return answered(by_rules, answer)
