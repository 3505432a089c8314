"""Whom credit blames when it is known who is at fault.

Run it with `python -m cotune.experiments.benchmarks.credit`. The simulated grocery assistant
with good prompts serves simulated customers; of its flawless conversations, each is held again
with one agent's answers altered (`planted_faults.py`). Half of the customers are hurried: they
leave after as many turns as the good conversation took, so that nothing is put right any more.
Where a criterion then fails, the altered agent should have the largest share of the points lost.
Everything is judged by the checks of MAGIC; no model is asked.
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from ...agents.grocery.signatures import AGENTS
from ...rubrics.credit import Blame, credit, shares
from ...rubrics.evaluate import evaluate
from ...rubrics.rubric import Rubric
from ...rubrics.rubric_file import load_rubric
from ...rubrics.subject import ConversationRecord
from ...rubrics.verdict import Verdict
from ...simulation.conversation import ConversationLimits, converse
from ...simulation.scenario import Scenario
from ...simulation.scenario_file import load_scenarios
from ...simulation.users.agenda.user import AgendaUsers
from ...simulation.work import Work
from .planted_faults import FAULTS, PlantedFault, assistant_with, good_prompts

CONVERSATIONS = 200
REPEAT = 1
"""Which repetition of the scenarios is played; the mechanism was made by looking at the first."""

_PATIENCE = ConversationLimits().turns
# What a customer says only after something went wrong.
_CORRECTIONS = {
    *("take", "take_again", "request_again", "say_again", "not_seen", "nothing_there", "take_out"),
    *("amount", "none_fits", "decline", "alternatives", "do_without", "insist", "drop", "leave"),
}


@dataclass(frozen=True, slots=True)
class Case:
    """A conversation that a planted fault spoilt.

    Attributes:
        fault: The fault.
        record: The conversation.
        hurried: Whether the customer had no time to put things right.
        blamed: By failed criterion, the agent with the largest share; empty for a tie.
        most_blamed: The agent with the largest share of all points lost.
    """

    fault: PlantedFault
    record: ConversationRecord
    hurried: bool
    blamed: Mapping[str, str]
    most_blamed: str

    @property
    def is_right(self) -> bool:
        """Whether the agent at fault is the one that is blamed most."""
        return self.most_blamed == self.fault.agent


async def play(
    scenario: Scenario, fault: PlantedFault | None = None, turns: int = _PATIENCE
) -> ConversationRecord:
    """Hold one conversation."""
    prompts = good_prompts()
    seed = Work(scenario, prompts, REPEAT).seed
    limits = ConversationLimits(turns=turns)
    assistant = assistant_with(fault)
    trajectory = await converse(assistant, prompts, scenario, AgendaUsers(), seed, limits)
    return ConversationRecord(trajectory, scenario)


async def flawless(scenarios: Iterable[Scenario], rubric: Rubric) -> dict[str, ConversationRecord]:
    """Return the conversations, by scenario, in which all went well and nobody was corrected."""
    records = [await play(scenario) for scenario in scenarios]
    return {
        record.scenario.id: record
        for record in records
        if record.trajectory.fault is None
        and not any(turn.notes.get("act") in _CORRECTIONS for turn in record.trajectory.turns)
        and not _failed(evaluate(rubric, record))
    }


async def cases(
    good: Mapping[str, ConversationRecord], rubric: Rubric, most: int = CONVERSATIONS
) -> list[Case]:
    """Return spoilt conversations, all faults in turn, until there are enough or no more."""
    sources = {fault.name: _spoilt(fault, good, rubric) for fault in FAULTS}
    found: list[Case] = []
    while sources and len(found) < most:
        for name, source in list(sources.items()):
            case = await anext(source, None)
            if case is None:
                del sources[name]
            elif len(found) < most:
                found.append(case)
    return found


async def _spoilt(
    fault: PlantedFault, good: Mapping[str, ConversationRecord], rubric: Rubric
) -> AsyncIterator[Case]:
    for record in good.values():
        for turns in (len(record.trajectory.turns), _PATIENCE):
            spoilt = await play(record.scenario, fault, turns)
            verdicts = evaluate(rubric, spoilt)
            if _failed(verdicts):
                yield _case(fault, spoilt, turns < _PATIENCE, rubric, verdicts)


def _case(
    fault: PlantedFault,
    record: ConversationRecord,
    hurried: bool,
    rubric: Rubric,
    verdicts: Sequence[Verdict],
) -> Case:
    blames = credit(rubric, verdicts, record)
    by_criterion: defaultdict[str, list[Blame]] = defaultdict(list)
    for blame in blames:
        by_criterion[blame.verdict.criterion].append(blame)
    blamed = {name: _first(found) for name, found in by_criterion.items()}
    return Case(fault, record, hurried, blamed, next(iter(shares(rubric, blames))))


def _first(blames: Sequence[Blame]) -> str:
    tied = len(blames) > 1 and blames[0].share == blames[1].share
    return "" if tied else blames[0].agent


def _failed(verdicts: Iterable[Verdict]) -> bool:
    return any(verdict.value == 0.0 for verdict in verdicts)


def confusion(found: Iterable[Case]) -> Table:
    """Return a table: planted faults by the agents that are blamed most."""
    counts: defaultdict[PlantedFault, Counter[str]] = defaultdict(Counter)
    for case in found:
        counts[case.fault][case.most_blamed] += 1
    table = Table("at fault", "what it does", *AGENTS, "right")
    for fault in FAULTS:
        blamed = counts[fault]
        cells = [str(blamed[agent] or "") for agent in AGENTS]
        right = f"{blamed[fault.agent]}/{blamed.total()}"
        table.add_row(fault.agent, fault.name, *cells, right)
    return table


def summary(found: Sequence[Case]) -> str:
    """Say how often the agent at fault is blamed most, by conversation and by criterion."""
    right = sum(case.is_right for case in found)
    criteria = [(case.fault.agent, agent) for case in found for agent in case.blamed.values()]
    agree = sum(fault == blamed for fault, blamed in criteria)
    return (
        f"{right} of {len(found)} conversations ({right / len(found):.1%}), "
        f"{agree} of {len(criteria)} failed criteria ({agree / len(criteria):.1%}); "
        f"{sum(case.hurried for case in found)} customers were hurried."
    )


async def main() -> None:
    """Measure and print."""
    rubric = load_rubric("magic")
    good = await flawless(load_scenarios("grocery"), rubric)
    found = await cases(good, rubric)
    console = Console(width=120)
    console.print(f"{len(good)} flawless conversations to plant faults in.")
    console.print(confusion(found))
    console.print(summary(found))
    for case in found:
        if not case.is_right:
            scenario = case.record.scenario.id
            console.print(f"{case.fault.agent} {case.fault.name}, {scenario}: {case.blamed}")


if __name__ == "__main__":
    asyncio.run(main())
