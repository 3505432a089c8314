"""Each known failure of customer simulators: caught in one that has it, absent from ours.

Each is shown twice. A naive customer, written here, has the failure: the conversation asks again
with an objection and then is a fault of the simulator, which is never scored. Ours are put into
the same situation and do not have it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from cotune.agents.errors import Fault, FaultError, FaultOrigin
from cotune.simulation.conversation import ConversationLimits, converse
from cotune.simulation.scenario import Fact, ItemErrand, Revision, Scenario
from cotune.simulation.term import Term
from cotune.simulation.trajectory import StopReason, Trajectory
from cotune.simulation.user import Say, Stop, UserKind, UserMove
from cotune.simulation.users.agenda.user import AgendaUsers
from cotune.simulation.users.llm import LlmUsers

from .shop import OAT, PROMPTS, PlannedModel, Shop, Step, turn

SCENARIO = Scenario(
    id="s1",
    family="f",
    goal="You want oat milk.",
    facts=(Fact(name="street", value="Lindenweg 12"),),
    constraints=(Term(field="diet", operator="includes", value="vegan", say="vegan"),),
    errands=(ItemErrand(id="milk", item="oat milk"),),
)
OFFER = Step("On the screen: Oat drink Natural.", shows=[OAT])
ADDED = Step("In the cart: 1 x Oat drink Natural.", cart=[(OAT, 1)])
HELLO = turn("Oat milk, please.")
GONE = turn("", "gave_up")


@dataclass
class NaiveUsers:
    """Customers who make these moves, one a turn, whatever they are told is wrong with them."""

    moves: Sequence[UserMove]
    objections: list[tuple[str, ...]] = field(default_factory=list)

    @property
    def identity(self) -> Mapping[str, Any]:
        return {"user": "naive"}

    def start(self, scenario: Scenario, seed: int) -> NaiveUsers:
        return self

    async def next(self, so_far: Trajectory, objections: Sequence[str]) -> UserMove:
        self.objections.append(tuple(objections))
        return self.moves[min(len(so_far.turns), len(self.moves) - 1)]


async def played(
    users: UserKind, *steps: Step, scenario: Scenario = SCENARIO, turns: int = 10
) -> Trajectory:
    limits = ConversationLimits(turns=turns)
    return await converse(Shop(steps), PROMPTS, scenario, users, 1, limits)


def assert_caught(trajectory: Trajectory, users: NaiveUsers, kind: str, turns: int) -> None:
    """The turn was asked for three times, each time with more objections, and then given up."""
    assert trajectory.stop is StopReason.FAULT
    assert trajectory.fault is not None
    assert (trajectory.fault.origin, trajectory.fault.kind) == (FaultOrigin.USER, kind)
    assert trajectory.metadata["turn_problems"] == {kind: 3}
    assert len(trajectory.turns) == turns
    assert [len(each) for each in users.objections[-3:]] == [0, 1, 2]


# --- the customer ends while the assistant asks for confirmation ------------------------------

ASKS = Step("Shall I put the Oat drink Natural into the cart?", shows=[OAT])


@pytest.mark.parametrize("reason", [StopReason.SATISFIED, StopReason.GAVE_UP])
async def test_ending_while_asked_for_confirmation_is_caught(reason: StopReason) -> None:
    users = NaiveUsers([Say("Oat milk, please."), Stop(reason)])
    assert_caught(await played(users, ASKS), users, "premature_stop", turns=1)


async def test_the_agenda_customer_answers_before_they_go() -> None:
    trajectory = await played(AgendaUsers(), ASKS, ADDED)
    assert trajectory.fault is None
    assert trajectory.stop is StopReason.SATISFIED
    assert len(trajectory.turns) == 2


async def test_a_model_that_ends_while_asked_answers_when_told_so() -> None:
    model = PlannedModel(HELLO, turn("", "satisfied"), turn("Yes, please."), turn("", "satisfied"))
    trajectory = await played(LlmUsers(model), ASKS, ADDED)
    assert [each.message for each in trajectory.turns] == ["Oat milk, please.", "Yes, please."]
    assert trajectory.stop is StopReason.SATISFIED
    assert trajectory.metadata["turn_problems"] == {"premature_stop": 1}


# --- "agreed" taken for "done" ----------------------------------------------------------------

PROMISE = Step("Of course! I have added one Oat drink Natural to your cart.", shows=[OAT])


async def test_taking_agreed_for_done_is_caught() -> None:
    users = NaiveUsers([Say("Oat milk, please."), Stop(StopReason.SATISFIED)])
    assert_caught(await played(users, PROMISE), users, "premature_stop", turns=1)


async def test_the_agenda_customer_is_content_with_what_is_done_and_not_before() -> None:
    promised = await played(AgendaUsers(), PROMISE)
    assert promised.stop is StopReason.GAVE_UP
    assert len(promised.turns) > 1
    assert (await played(AgendaUsers(), PROMISE, ADDED)).stop is StopReason.SATISFIED


async def test_a_model_that_takes_agreed_for_done_is_told_and_asks_again() -> None:
    model = PlannedModel(
        HELLO, turn("", "satisfied"), turn("It is not there."), turn("", "satisfied")
    )
    trajectory = await played(LlmUsers(model), PROMISE, ADDED)
    assert [each.message for each in trajectory.turns][1:] == ["It is not there."]
    assert trajectory.stop is StopReason.SATISFIED
    assert "not done" in model.heard[2]


# --- roles flip, reasoning leaks, an error text becomes the message ---------------------------

BAD_MESSAGES = [
    ("role_flip", "I have added the oat milk to your cart. Anything else I can help with?"),
    ("leaked_reasoning", "<think>The user wants oat milk.</think> Oat milk, please."),
    ("error_text", "Error: 429 Too Many Requests"),
]


@pytest.mark.parametrize(("kind", "message"), BAD_MESSAGES)
async def test_words_that_are_not_the_customers_are_caught(kind: str, message: str) -> None:
    users = NaiveUsers([Say("Oat milk, please."), Say(message)])
    assert_caught(await played(users, OFFER), users, kind, turns=1)


@pytest.mark.parametrize(("kind", "message"), BAD_MESSAGES)
async def test_a_model_that_says_them_is_asked_for_others(kind: str, message: str) -> None:
    model = PlannedModel(HELLO, turn(message), turn("That one, please."), GONE)
    trajectory = await played(LlmUsers(model), OFFER, Step("Sorry."))
    assert [each.message for each in trajectory.turns] == [
        "Oat milk, please.",
        "That one, please.",
    ]
    assert trajectory.metadata["turn_problems"] == {kind: 1}
    assert len(set(model.heard)) == len(model.heard), "no request is sent twice"


async def test_the_agenda_customer_does_not_take_over_what_the_assistant_says() -> None:
    odd = [Step(message, shows=[OAT]) for _, message in BAD_MESSAGES]
    trajectory = await played(AgendaUsers(), *odd, ADDED)
    assert trajectory.fault is None
    assert "turn_problems" not in trajectory.metadata


async def test_a_providers_error_is_raised_as_a_fault_and_never_said() -> None:
    fault = Fault(FaultOrigin.PROVIDER, "rate_limit", "429: too many requests")
    trajectory = await played(LlmUsers(PlannedModel(HELLO, FaultError(fault))), OFFER)
    assert trajectory.fault == fault.said_of("customer")
    assert [each.message for each in trajectory.turns] == ["Oat milk, please."]


# --- a crashed conversation looks like a short one --------------------------------------------


@pytest.mark.parametrize("reason", [StopReason.FAULT, StopReason.OPEN, StopReason.TURN_LIMIT])
async def test_a_customer_cannot_pass_a_crash_off_as_an_end(reason: StopReason) -> None:
    users = NaiveUsers([Say("Oat milk, please."), Stop(reason)])
    assert_caught(await played(users, OFFER), users, "premature_stop", turns=1)


async def test_a_conversation_without_a_word_is_none() -> None:
    users = NaiveUsers([Stop(StopReason.GAVE_UP)])
    assert_caught(await played(users, OFFER), users, "premature_stop", turns=0)


@dataclass
class CrashingUsers(NaiveUsers):
    """Customers whose code breaks in their second turn."""

    async def next(self, so_far: Trajectory, objections: Sequence[str]) -> UserMove:
        if so_far.turns:
            raise ConnectionError("no route")
        return Say("Oat milk, please.")


async def test_whoever_crashes_the_conversation_says_fault() -> None:
    fault = Fault(FaultOrigin.PROVIDER, "server_error", "500")
    broken = [
        await played(AgendaUsers(), OFFER, Step("", error=FaultError(fault))),
        await played(AgendaUsers(), OFFER, Step("", error=KeyError("price"))),
        await played(CrashingUsers([]), OFFER),
        await played(LlmUsers(PlannedModel(HELLO, "no JSON")), OFFER),
    ]
    for trajectory in broken:
        assert trajectory.stop is StopReason.FAULT
        assert trajectory.fault is not None
        assert len(trajectory.turns) == 1, "what went before is kept"
    origins = [each.fault.origin for each in broken if each.fault]
    assert origins == [
        FaultOrigin.PROVIDER,
        FaultOrigin.INFRASTRUCTURE,
        FaultOrigin.INFRASTRUCTURE,
        FaultOrigin.USER,
    ]


# --- an empty reply crashes every retry at temperature 0 --------------------------------------


async def test_an_empty_message_over_and_over_is_caught() -> None:
    users = NaiveUsers([Say("Oat milk, please."), Say("  ")])
    assert_caught(await played(users, OFFER), users, "empty", turns=1)


@pytest.mark.parametrize("empty", ["", turn("")])
async def test_after_an_empty_answer_the_model_is_asked_otherwise(empty: Any) -> None:
    """At temperature 0 the same request would be answered with nothing forever."""
    model = PlannedModel(HELLO, empty, turn("That one, please."), GONE)
    trajectory = await played(LlmUsers(model), OFFER, Step("Sorry."))
    assert trajectory.stop is StopReason.GAVE_UP
    assert trajectory.turns[1].message == "That one, please."
    first, second = model.requests[1:3]
    assert first.config.temperature == second.config.temperature
    assert (first.messages, first.config.seed) != (second.messages, second.config.seed)
    assert model.heard[1] != model.heard[2], "a model without a seed reads another request"


@pytest.mark.parametrize("silence", ["", " \n"])
async def test_an_empty_reply_of_the_assistant_does_not_end_the_conversation(silence: str) -> None:
    model = PlannedModel(HELLO, turn("Hello?"), turn("", "satisfied"))
    trajectory = await played(LlmUsers(model), Step(silence), ADDED)
    assert trajectory.stop is StopReason.SATISFIED
    assert "assistant: (said nothing)" in model.heard[1]
    by_rules = await played(AgendaUsers(), Step(silence), OFFER, ADDED)
    assert by_rules.stop is StopReason.SATISFIED


# --- variables do not reach later turns -------------------------------------------------------


async def test_what_the_customer_knows_reaches_every_turn() -> None:
    change = Revision(
        turn=2,
        say="From Haferlust only.",
        constraints=(Term(field="brand", operator="is", value="Haferlust", say="from Haferlust"),),
    )
    scenario = SCENARIO.model_copy(update={"revisions": (change,), "budget": 9})
    model = PlannedModel(HELLO, turn("Haferlust."), turn("Well?"), turn("Hello?"), GONE)
    trajectory = await played(LlmUsers(model), Step("One moment."), scenario=scenario)
    assert len(trajectory.turns) == 4
    for heard in model.heard:
        assert "must: vegan" in heard
        assert "Lindenweg 12" in heard
        assert "at most 9" in heard
        assert "1 x oat milk" in heard
    assert ["from Haferlust" in heard for heard in model.heard] == [False, True, True, True, True]
    for earlier in ["Oat milk, please.", "Haferlust.", "Well?", "Hello?"]:
        assert f"you: {earlier}" in model.heard[4]


@dataclass
class ForgetfulUsers(NaiveUsers):
    """Customers who lose the scenario after their first turn, and so would take anything."""

    async def next(self, so_far: Trajectory, objections: Sequence[str]) -> UserMove:
        self.objections.append(tuple(objections))
        return Say("It doesn't have to be vegan." if so_far.turns else "Vegan milk, please.")


async def test_forgetting_what_must_hold_is_caught() -> None:
    users = ForgetfulUsers([])
    assert_caught(await played(users, OFFER), users, "contradiction", turns=1)


async def test_the_worlds_state_is_carried_from_turn_to_turn() -> None:
    users = NaiveUsers([Say("One."), Say("Two."), Say("Three."), Stop(StopReason.GAVE_UP)])
    trajectory = await played(users, ADDED, OFFER, Step("Well."))
    assert [len(each.state["cart"]) for each in trajectory.turns] == [1, 1, 1]
    assert [each.state["shown"] for each in trajectory.turns] == [[], ["p1"], ["p1"]]
    assert trajectory.initial_state == {"cart": [], "shown": []}
