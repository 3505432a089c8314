"""Replaying customers follow the log while it fits, and are grounded ones from then on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from cotune.agents.errors import Fault, FaultError, FaultOrigin, UsageError
from cotune.simulation.conversation import ConversationLimits, converse
from cotune.simulation.equivalence import Comparison
from cotune.simulation.scenario import ItemErrand, Scenario
from cotune.simulation.term import Term
from cotune.simulation.trajectory import StopReason, Trajectory, Turn
from cotune.simulation.trajectory_file import write_trajectories
from cotune.simulation.user import Say, Stop, UserMove
from cotune.simulation.users.agenda.user import AgendaUsers
from cotune.simulation.users.fixed import FixedUsers
from cotune.simulation.users.kinds import user_kind
from cotune.simulation.users.llm import LlmUsers
from cotune.simulation.users.replay import FirstLineUsers, ReplayUsers
from cotune.simulation.users.settings import ReplayUserSettings

from .shop import COW, OAT, PROMPTS, PlannedModel, Shop, Step, turn

VEGAN = Term(field="diet", operator="includes", value="vegan", say="vegan")
SCENARIO = Scenario(
    id="s1",
    family="f",
    goal="Oat milk.",
    constraints=(VEGAN,),
    errands=(ItemErrand(id="milk", item="oat milk"),),
)
STEPS = (
    Step("On the screen: Oat drink Natural.", shows=[OAT]),
    Step("I have added it. Is one enough?", cart=[(OAT, 1)]),
    Step("Very well."),
)
LINES = ("Oat milk?", "That one.", "One is enough.")


@dataclass
class GroundedUsers:
    """Grounded customers who say one thing and leave, and keep what they were shown."""

    seen: list[tuple[Trajectory, tuple[str, ...]]] = field(default_factory=list)

    @property
    def identity(self) -> Mapping[str, Any]:
        return {"user": "grounded"}

    def start(self, scenario: Scenario, seed: int) -> GroundedUsers:
        return self

    async def next(self, so_far: Trajectory, objections: Sequence[str]) -> UserMove:
        self.seen.append((so_far, tuple(objections)))
        if len(self.seen) > 1:
            return Stop(StopReason.GAVE_UP)
        return Say("Let me think for myself.", {"own": True})


async def logged(*steps: Step, stop: StopReason = StopReason.SATISFIED) -> Trajectory:
    log = await converse(Shop(steps), PROMPTS, SCENARIO, FixedUsers(LINES[: len(steps)]))
    return replace(log, stop=stop)


async def replayed(users: Any, *steps: Step, turns: int = 8) -> Trajectory:
    return await converse(Shop(steps), PROMPTS, SCENARIO, users, 3, ConversationLimits(turns=turns))


async def test_the_log_is_followed_to_its_end_while_the_assistant_does_the_same() -> None:
    log = await logged(*STEPS)
    then = GroundedUsers()
    reworded = replace(STEPS[1], text="I've added the Oat drink. Do you want more?")
    trajectory = await replayed(ReplayUsers({"s1": log}, then), STEPS[0], reworded, STEPS[2])
    assert [each.message for each in trajectory.turns] == list(LINES)
    assert trajectory.stop is StopReason.SATISFIED
    assert not then.seen
    assert [each.notes["replay"] for each in trajectory.turns] == [
        {"by": "log", "why": "the conversation begins"},
        {"by": "log", "why": "same acts, calls and view"},
        {"by": "log", "why": "same acts, calls and view"},
    ]


async def test_the_first_difference_hands_over_in_the_middle_and_is_recorded() -> None:
    log = await logged(*STEPS)
    then = GroundedUsers()
    other = Step("On the screen: Whole milk.", shows=[COW], words="milk")
    trajectory = await replayed(ReplayUsers({"s1": log}, then), other, Step("Fine."))
    assert [each.message for each in trajectory.turns] == [LINES[0], "Let me think for myself."]
    notes = trajectory.turns[1].notes
    assert notes["own"] is True
    assert notes["replay"]["by"] == "simulation"
    assert '"words":"milk"' in notes["replay"]["why"]
    assert [len(so_far.turns) for so_far, _ in then.seen] == [1, 2]


async def test_after_the_handover_there_is_no_way_back_to_the_log() -> None:
    log = await logged(*STEPS)
    trajectory = await replayed(
        ReplayUsers({"s1": log}, FixedUsers(["-", "Own two.", "Own three."])),
        Step("Which one?"),
        *STEPS[1:],
    )
    assert [each.message for each in trajectory.turns] == [LINES[0], "Own two.", "Own three."]


@pytest.mark.parametrize("stop", [StopReason.OPEN, StopReason.TURN_LIMIT, StopReason.FAULT])
async def test_a_log_that_broke_off_is_gone_on_with(stop: StopReason) -> None:
    log = await logged(STEPS[0], stop=stop)
    trajectory = await replayed(ReplayUsers({"s1": log}, GroundedUsers()), STEPS[0], Step("Bye."))
    assert trajectory.turns[1].message == "Let me think for myself."
    assert trajectory.turns[1].notes["replay"]["why"] == "the log broke off here"
    assert trajectory.stop is StopReason.GAVE_UP


async def test_a_logged_line_that_is_objected_to_is_not_insisted_on() -> None:
    log = await logged(STEPS[0], stop=StopReason.OPEN)
    flipped = replace(log, turns=(replace(log.turns[0], message="How can I help you?"),))
    then = GroundedUsers()
    trajectory = await replayed(ReplayUsers({"s1": flipped}, then), Step("Bye."))
    assert trajectory.fault is None
    assert trajectory.turns[0].message == "Let me think for myself."
    assert trajectory.metadata["turn_problems"] == {"role_flip": 1}
    assert then.seen[0][1], "the grounded customer hears the objection"


async def test_a_logged_end_that_no_longer_fits_is_not_insisted_on() -> None:
    log = await logged(*STEPS[:2])
    silent = replace(STEPS[1], cart=(), text="I have added it. Is one enough?")
    users = ReplayUsers({"s1": log}, GroundedUsers(), Anything())
    trajectory = await replayed(users, STEPS[0], silent, Step("Bye."))
    assert trajectory.metadata["turn_problems"] == {"premature_stop": 1}
    assert trajectory.turns[2].message == "Let me think for myself."


async def test_of_several_logs_of_a_scenario_the_first_is_followed(tmp_path: Path) -> None:
    first = await logged(STEPS[0], stop=StopReason.GAVE_UP)
    second = replace(first, turns=(replace(first.turns[0], message="Another line."),))
    write_trajectories(tmp_path / "logs.jsonl", [first, second])
    users = user_kind(ReplayUserSettings(logs=tmp_path / "logs.jsonl"), {})
    trajectory = await replayed(users, STEPS[0])
    assert trajectory.turns[0].message == first.turns[0].message


@pytest.mark.parametrize("kind", [ReplayUsers, FirstLineUsers])
def test_a_scenario_without_a_log_is_refused(kind: Any) -> None:
    empty = Trajectory("s1", (), {}, StopReason.FAULT)
    for logs in ({}, {"s1": empty}):
        with pytest.raises(UsageError, match="no logged conversation of 's1'"):
            kind(logs, GroundedUsers()).start(SCENARIO, 0)


async def test_only_the_first_line_can_be_taken_from_the_log() -> None:
    log = await logged(*STEPS)
    trajectory = await replayed(
        FirstLineUsers({"s1": log}, GroundedUsers()), STEPS[0], Step("Bye.")
    )
    assert [each.message for each in trajectory.turns] == [LINES[0], "Let me think for myself."]


async def test_the_agenda_customer_takes_over_with_the_scenarios_constraints() -> None:
    log = await logged(*STEPS)
    offers = Step("On the screen: Whole milk and Oat drink Natural.", shows=[COW, OAT])
    trajectory = await replayed(
        ReplayUsers({"s1": log}, AgendaUsers()), offers, Step("Added.", cart=[(OAT, 1)])
    )
    assert trajectory.turns[0].message == LINES[0]
    assert "Oat drink Natural" in trajectory.turns[1].message
    assert trajectory.stop is StopReason.SATISFIED


async def test_a_model_takes_over_with_the_conversation_and_the_constraints() -> None:
    log = await logged(*STEPS)
    model = PlannedModel(turn("Not that, a vegan one."), turn("", "gave_up"))
    users = ReplayUsers({"s1": log}, LlmUsers(model))
    trajectory = await replayed(users, Step("Whole milk then."), Step("Sorry."))
    assert trajectory.turns[1].message == "Not that, a vegan one."
    assert f"you: {LINES[0]}" in model.heard[0]
    assert "must: vegan" in model.heard[0]


@dataclass(frozen=True)
class Anything:
    """Everything is equivalent, or nothing can be decided."""

    error: Exception | None = None

    @property
    def identity(self) -> Mapping[str, Any]:
        return {"equivalence": "anything"}

    async def compare(self, logged: Turn, new: Turn) -> Comparison:
        if self.error:
            raise self.error
        return Comparison(True, "whatever")


async def test_the_equivalence_can_be_exchanged() -> None:
    log = await logged(*STEPS)
    users = ReplayUsers({"s1": log}, GroundedUsers(), Anything())
    trajectory = await replayed(users, Step("Who knows?"), Step("Hm?"), STEPS[2])
    assert [each.message for each in trajectory.turns][:3] == list(LINES)
    assert trajectory.turns[1].notes["replay"]["why"] == "whatever"


async def test_an_equivalence_that_cannot_decide_is_a_fault() -> None:
    fault = Fault(FaultOrigin.PROVIDER, "rate_limit", "5 attempts")
    users = ReplayUsers({"s1": await logged(*STEPS)}, GroundedUsers(), Anything(FaultError(fault)))
    assert (await replayed(users, *STEPS)).fault == fault


async def test_the_identity_covers_logs_successor_and_equivalence() -> None:
    log = await logged(*STEPS)
    other = replace(log, turns=log.turns[:2])
    users = [
        ReplayUsers({"s1": log}, GroundedUsers()),
        ReplayUsers({"s1": other}, GroundedUsers()),
        ReplayUsers({"s1": log}, FixedUsers([])),
        ReplayUsers({"s1": log}, GroundedUsers(), Anything()),
        FirstLineUsers({"s1": log}, GroundedUsers()),
    ]
    identities = [repr(each.identity) for each in users]
    assert len(set(identities)) == len(users)
    assert repr(ReplayUsers({"s1": await logged(*STEPS)}, GroundedUsers()).identity) in identities
