"""Many conversations: each is played once, journaled as it ends, and forgotten."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest

from cotune.agents.budget import BudgetExhaustedError
from cotune.agents.errors import Fault, FaultOrigin, UsageError
from cotune.agents.ledger import Role
from cotune.simulation.journal import Journal
from cotune.simulation.paused import PausedError
from cotune.simulation.played import Played
from cotune.simulation.trajectory import StopReason, Trajectory
from cotune.simulation.trajectory_file import read_trajectories, write_trajectories
from cotune.simulation.work import Work, Workload

from .toys import BUSY, PER_TURN, PROMPTS, Run, broken, scenarios, workload


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with Journal(tmp_path / "journal.db") as opened:
        yield opened


@dataclass
class Watching:
    """Notes what it is told, and what is in the journal by then."""

    journal: Journal
    told: list[str] = field(default_factory=list)
    journaled: list[int] = field(default_factory=list)

    def started(self, work: Work) -> None:
        self.told.append(f"start {work.scenario.id}")

    def played_again(self, work: Work, fault: Fault) -> None:
        self.told.append(f"again {work.scenario.id} {fault.kind}")

    def ended(self, work: Work, played: Played, *, replayed: bool) -> None:
        self.told.append(f"{'replay' if replayed else 'end'} {work.scenario.id}")
        self.journaled.append(self.journal.count("conversation"))


async def test_every_conversation_is_journaled_before_anybody_hears_of_it(
    journal: Journal,
) -> None:
    watching = Watching(journal)
    summary = await Run(journal, observer=watching, concurrency=1).simulator.run(workload(3))
    assert watching.told == ["start s0", "end s0", "start s1", "end s1", "start s2", "end s2"]
    assert watching.journaled == [1, 2, 3]
    assert (summary.conversations, summary.turns, summary.replayed) == (3, 6, 0)
    assert summary.stops == {StopReason.SCRIPT_ENDED: 3}


async def test_a_conversation_says_which_one_it_is(journal: Journal) -> None:
    run, work = Run(journal), workload(1, repeats=2, seed=7)
    await run.simulator.run(work)
    first, second = (played.trajectory.metadata for played in run.ended(work))
    assert (first["repeat"], second["repeat"]) == (0, 1)
    assert first["seed"] != second["seed"]
    assert first["prompts"] == PROMPTS.fingerprint


async def test_seeds_are_of_the_work_and_not_of_its_order() -> None:
    seeds = {(work.scenario.id, work.repeat): work.seed for work in workload(5, repeats=3)}
    assert len(set(seeds.values())) == 15
    backwards = Workload(scenarios(5)[::-1], PROMPTS, 3)
    assert seeds == {(work.scenario.id, work.repeat): work.seed for work in backwards}
    other = {work.seed for work in workload(5, repeats=3, seed=1)}
    assert other.isdisjoint(seeds.values())


async def test_whatever_the_order_of_completion_results_are_the_same(tmp_path: Path) -> None:
    def delays(seed: int) -> Run:
        chance = Random(seed)
        return Run(Journal(tmp_path / f"{seed}"), delay=lambda: chance.random() / 500)

    runs, work = [delays(seed) for seed in range(3)], workload(20)
    summaries = [await run.simulator.run(work) for run in runs]
    ended = [run.ended(work) for run in runs]
    assert ended[0] == ended[1] == ended[2]
    assert summaries[0] == summaries[1] == summaries[2]
    for run in runs:
        run.journal.close()


@dataclass
class Pulled:
    """Work that counts how much of it was asked for."""

    work: Workload
    pulled: int = 0

    def __len__(self) -> int:
        return len(self.work)

    def __iter__(self) -> Iterator[Work]:
        for unit in self.work:
            self.pulled += 1
            yield unit


async def test_work_is_pulled_as_it_is_needed_and_conversations_are_forgotten(
    journal: Journal,
) -> None:
    pulled = Pulled(workload(200))
    ahead, alive = [], []

    class Counting(Watching):
        def ended(self, work: Work, played: Played, *, replayed: bool) -> None:
            super().ended(work, played, replayed=replayed)
            ahead.append(pulled.pulled - len(self.journaled))
            if len(self.journaled) % 20 == 0:
                alive.append(sum(isinstance(one, Trajectory) for one in gc.get_objects()))

    already = sum(isinstance(one, Trajectory) for one in gc.get_objects())
    run = Run(journal, observer=Counting(journal), concurrency=4)
    await run.simulator.run(pulled)
    assert max(ahead) < 4
    # Of one conversation there may be the whole, what its customer has read, and a copy.
    assert max(alive) - already <= 4 * 4


async def test_what_is_in_the_journal_is_replayed_and_not_paid_again(journal: Journal) -> None:
    first, work = Run(journal), workload(5)
    await first.simulator.run(workload(3))
    again = Run(journal, observer=Watching(journal))
    summary = await again.simulator.run(work)
    assert sorted(again.assistant.played) == ["s3", "s4"]
    assert (summary.conversations, summary.replayed) == (5, 3)
    total = again.ledger.totals[Role.TASK, "echo"]
    assert (total.calls, total.replayed) == (10, 6)
    assert again.budget.rollouts == 5
    assert again.budget.usage.cost == pytest.approx(0.1)
    whole = Run(journal)
    assert (await whole.simulator.run(work)).replayed == 5
    assert not whole.assistant.played


async def test_other_prompts_scenarios_repeats_and_seeds_are_other_conversations(
    journal: Journal,
) -> None:
    await Run(journal).simulator.run(workload(1))
    changed = PROMPTS.with_texts({"echo": "Sing."})
    warmer = [scenarios(1)[0].model_copy(update={"goal": "something else"})]
    for work in (
        workload(1, seed=1),
        Workload(scenarios(1), changed),
        Workload(warmer, PROMPTS),
        [Work(scenarios(1)[0], PROMPTS, repeat=1)],
    ):
        assert (await Run(journal).simulator.run(work)).replayed == 0


@pytest.mark.parametrize(
    ("origin", "kind", "again", "same_seed"),
    [
        (FaultOrigin.PROVIDER, "rate_limit", True, True),
        (FaultOrigin.INFRASTRUCTURE, "turn_timeout", True, True),
        (FaultOrigin.USER, "role_flip", True, False),
        (FaultOrigin.PROVIDER, "empty_reply", True, False),
        (FaultOrigin.ASSISTANT, "invalid_output", False, True),
        (FaultOrigin.TOOL, "crash", False, True),
    ],
)
async def test_a_fault_is_played_again_unless_it_is_the_assistants_or_a_tools(
    journal: Journal, origin: FaultOrigin, kind: str, again: bool, same_seed: bool
) -> None:
    fault = Fault(origin, kind, "no")
    run = Run(journal, broken(["s1"], fault, times=1))
    summary = await run.simulator.run(workload(3))
    (played,) = (one for one in run.ended(workload(3)) if one.trajectory.scenario == "s1")
    assert run.assistant.played["s1"] == 1 + again
    assert (played.trajectory.fault is None) == again
    assert played.earlier == ((fault,) if again else ())
    assert summary.played_again == ({(origin, kind): 1} if again else {})
    assert (len(set(run.assistant.seeds["s1"])) == 1) == same_seed
    assert played.spending[Role.TASK, "echo"].calls == (3 if again else 1), "all it cost"


async def test_only_the_assistants_own_fault_counts_as_its_failure(journal: Journal) -> None:
    own = Fault(FaultOrigin.ASSISTANT, "invalid_output", "no")
    summary = await Run(journal, broken(["s1"], own)).simulator.run(workload(3))
    assert summary.failed == {(FaultOrigin.ASSISTANT, "invalid_output"): 1}
    assert not summary.excluded
    assert summary.stops == {StopReason.SCRIPT_ENDED: 2, StopReason.FAULT: 1}


async def test_what_stays_faulty_is_excluded_counted_and_kept(journal: Journal) -> None:
    run, work = Run(journal, broken(["s1"])), workload(3)
    summary = await run.simulator.run(work)
    assert run.assistant.played["s1"] == 3
    assert summary.excluded == {(FaultOrigin.PROVIDER, "rate_limit"): 1}
    assert summary.conversations == 3
    (lost,) = (one for one in run.ended(work) if one.excluded_for)
    assert lost.earlier == (BUSY, BUSY)
    assert lost.trajectory.metadata["unanswered"] == "a"
    again = Run(journal)
    assert (await again.simulator.run(work)).excluded == summary.excluded
    assert not again.assistant.played, "the run goes on without it, now and later"


async def test_too_many_faults_pause_the_run_and_are_played_again_later(journal: Journal) -> None:
    work = workload(40)
    run = Run(journal, broken([f"s{number}" for number in range(5, 25)]))
    with pytest.raises(PausedError, match=r"3 of 40.*rate_limit.*same command again") as caught:
        await run.simulator.run(work)
    assert "5 attempts" in str(caught.value)
    kept = journal.count("conversation")
    assert kept == run.simulator.summary.conversations
    assert all(played.excluded_for is None for played in run.ended(work))
    resumed = Run(journal)
    spent = resumed.ledger.totals[Role.TASK, "echo"].replayed
    assert spent >= 3 * 3, "what the lost ones cost is not forgotten"
    summary = await resumed.simulator.run(work)
    assert (summary.conversations, summary.replayed) == (40, kept)
    assert not summary.excluded


@pytest.mark.parametrize(("threshold", "pauses"), [(0.05, False), (0.0, True)])
async def test_one_fault_pauses_only_where_none_is_allowed(
    journal: Journal, threshold: float, pauses: bool
) -> None:
    run = Run(journal, broken(["s0"]), threshold=threshold)
    if pauses:
        with pytest.raises(PausedError):
            await run.simulator.run(workload(2))
    else:
        await run.simulator.run(workload(2))


async def test_the_budget_ends_a_run_that_can_go_on_later(journal: Journal) -> None:
    work = workload(6)
    run = Run(journal, rollouts=4)
    with pytest.raises(BudgetExhaustedError, match="4 of 4"):
        await run.simulator.run(work)
    assert run.simulator.summary.conversations == 4
    assert (await Run(journal).simulator.run(work)).replayed == 4


async def test_a_defect_lets_the_others_end_and_forgets_no_money(journal: Journal) -> None:
    def fails(scenario: str, attempt: int) -> Exception | None:
        return UsageError("the scenario is wrong") if scenario == "s2" else None

    run = Run(journal, fails, concurrency=3)
    with pytest.raises(UsageError, match="scenario is wrong"):
        await run.simulator.run(workload(20))
    assert 2 <= journal.count("conversation") <= 4
    paid = journal.count("conversation") * 2 + 1
    resumed = Run(journal)
    await resumed.simulator.run(workload(20))
    assert resumed.ledger.total.calls == 40 + 1
    assert resumed.ledger.total.replayed == paid
    assert resumed.budget.usage.tokens == 41 * PER_TURN.tokens


class Interrupting(Watching):
    def __init__(self, journal: Journal) -> None:
        super().__init__(journal)
        self.eight_ended = asyncio.Event()

    def ended(self, work: Work, played: Played, *, replayed: bool) -> None:
        super().ended(work, played, replayed=replayed)
        if len(self.journaled) == 8:
            self.eight_ended.set()


async def test_a_cancelled_run_goes_on_where_it_was(journal: Journal) -> None:
    chance, work = Random(3), workload(30)
    watching = Interrupting(journal)
    run = Run(journal, delay=lambda: chance.random() / 200, observer=watching)
    task = asyncio.create_task(run.simulator.run(work))
    await watching.eight_ended.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    kept = journal.count("conversation")
    resumed = Run(journal)
    summary = await resumed.simulator.run(work)
    assert (summary.conversations, summary.replayed) == (30, kept)
    assert resumed.ledger.total.replayed == run.ledger.total.calls, "no paid call is forgotten"
    assert resumed.ended(work) == Run(journal).ended(work)


async def test_trajectories_are_written_in_the_order_of_the_work(
    journal: Journal, tmp_path: Path
) -> None:
    chance, work = Random(3), workload(10)
    run = Run(journal, delay=lambda: chance.random() / 500)
    await run.simulator.run(work)
    path = tmp_path / "out.jsonl"
    assert write_trajectories(path, (one.trajectory for one in run.simulator.ended(work))) == 10
    read = list(read_trajectories(path))
    assert [trajectory.scenario for trajectory in read] == [f"s{number}" for number in range(10)]
    assert read == [played.trajectory for played in run.ended(work)]


def test_a_scenario_that_is_there_twice_is_refused() -> None:
    with pytest.raises(UsageError, match="'s0' is there 2 times"):
        Workload([*scenarios(2), *scenarios(1)], PROMPTS)


def test_work_survives_the_way_to_another_process() -> None:
    for work in workload(2, repeats=2, seed=3):
        assert Work.from_json(work.to_json()) == work
        assert Work.from_json(work.redrawn().to_json()).seed == work.redrawn().seed != work.seed
