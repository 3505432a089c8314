"""A system task on the simulated model, built as a run builds it."""

from __future__ import annotations

from dataclasses import dataclass

from cotune.agents.budget import Budget, Limits
from cotune.agents.grocery.assistant import PROMPTS
from cotune.agents.ledger import Ledger, Role
from cotune.agents.models import ModelSettings
from cotune.agents.prompts import PromptBundle
from cotune.optimizer.example import Splits
from cotune.optimizer.system_task import SystemTask
from cotune.rubrics.judge import Judge
from cotune.rubrics.rubric_file import load_rubric
from cotune.rubrics.verdict_journal import VerdictJournal
from cotune.simulation.account import Account
from cotune.simulation.attempts import Attempts
from cotune.simulation.conversation import ConversationLimits
from cotune.simulation.engines.in_process import InProcess
from cotune.simulation.journal import Journal
from cotune.simulation.observer import Unwatched
from cotune.simulation.player import Player
from cotune.simulation.scenario import Scenario
from cotune.simulation.scenario_file import load_scenarios
from cotune.simulation.setup import Setup
from cotune.simulation.users.settings import AgendaUserSettings


@dataclass
class System:
    """A task with what counts its calls."""

    task: SystemTask
    ledger: Ledger
    budget: Budget


def scenario_splits(train: int = 8, val: int = 8, test: int = 8) -> Splits[Scenario]:
    """Return one scenario of each family, by family."""
    first = {scenario.family: scenario for scenario in reversed(load_scenarios("grocery"))}
    chosen = [first[family] for family in sorted(first)]
    return Splits(
        chosen[:train], chosen[train : train + val], chosen[train + val : train + val + test]
    )


def system(
    journal: Journal,
    *,
    model: str = "scripted:grocery",
    splits: Splits[Scenario] | None = None,
    judge: Judge | None = None,
    rollouts: int = 10_000,
    prompts: PromptBundle | None = None,
) -> System:
    ledger, budget = Ledger(), Budget(Limits(rollouts=rollouts))
    setup = Setup(
        models={Role.TASK: ModelSettings(model=model, attempts=1)},
        user=AgendaUserSettings(),
        limits=ConversationLimits(turns=8),
    )
    player = Player.of(setup, ledger, budget)
    account = Account(journal, ledger, budget, "conversations_in_vain")
    task = SystemTask(
        "grocery",
        prompts or PromptBundle.load(PROMPTS),
        splits or scenario_splits(),
        Attempts(InProcess(player), account, 2, Unwatched()),
        VerdictJournal(load_rubric("magic"), judge, journal, ledger, budget),
        player.identity,
    )
    return System(task, ledger, budget)
