"""Credit: who is blamed for a failed criterion, by what each agent received and returned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isclose
from typing import Any

import pytest

from cotune.agents.assistant import AgentCall, Reply, ToolCall
from cotune.rubrics.credit import Blame, credit, shares
from cotune.rubrics.rubric_file import load_rubric
from cotune.rubrics.subject import ConversationRecord
from cotune.rubrics.verdict import Status, Verdict
from cotune.rubrics.verdicts import Verdicts
from cotune.simulation.scenario import Scenario
from cotune.simulation.trajectory import StopReason, Trajectory, Turn

MAGIC = load_rubric("magic")
VEGAN = {"field": "diet", "operator": "includes", "value": "vegan", "say": "vegan"}
OAT = {"id": "p-1", "name": "Oat yogurt", "brand": "Hof", "price": 2.0, "diet": ["vegan"]}
MILK = {"id": "p-2", "name": "Milk yogurt", "brand": "Hof", "price": 1.0, "diet": []}
ASKED = "Two tubs of yogurt, please."


def line(item: Mapping[str, Any], quantity: int = 2) -> dict[str, Any]:
    described = {**item, "product_id": item["id"], "product": "yogurt", "quantity": quantity}
    return {name: value for name, value in described.items() if name != "id"}


def routed(to: str = "search", message: str = ASKED) -> AgentCall:
    return AgentCall("router", {"message": message}, {"agent": to})


def briefed(brief: str = ASKED, preferences: str = "none", message: str = ASKED) -> AgentCall:
    inputs = {"message": message, "history": "", "preferences": preferences, "agent": "search"}
    return AgentCall("briefer", inputs, {"brief": brief})


def searched(
    message: str = ASKED, found: Sequence[Mapping[str, Any]] = (OAT, MILK), **query: Any
) -> tuple[AgentCall, ToolCall]:
    said = {"product": "yogurt", "brand": "", "diet": [], **query}
    call = AgentCall("search", {"message": message, "previous": None}, said)
    return call, ToolCall("find_products", "search", {"query": said}, list(found))


def selected(
    choice: str, request: str = ASKED, among: Sequence[Mapping[str, Any]] = (OAT, MILK)
) -> AgentCall:
    inputs = {"request": request, "candidates": list(among)}
    return AgentCall("selector", inputs, {"choice": choice, "quantity": 2})


def changed(
    *operations: tuple[str, int], shown: Sequence[Mapping[str, Any]] = (OAT,), message: str = ASKED
) -> AgentCall:
    said = [{"action": "add", "product": id_, "quantity": units} for id_, units in operations]
    inputs = {"message": message, "brief": message, "cart": [], "shown": list(shown)}
    return AgentCall("cart", inputs, {"operations": said})


def answered(reply: str = "Done.", message: str = ASKED) -> AgentCall:
    return AgentCall("responder", {"message": message, "events": []}, {"reply": reply})


def turn(
    *calls: AgentCall | ToolCall, cart: Sequence[Mapping[str, Any]] = (), message: str = ASKED
) -> Turn:
    reply = Reply("Done.", (*calls, answered(message=message)))
    return Turn(message, reply, {"cart": list(cart), "shown": [], "store": None})


def record(*turns: Turn, vegan: bool = False, **fields: Any) -> ConversationRecord:
    must = [VEGAN] if vegan else []
    errand = {"id": "a", "kind": "item", "item": "yogurt", "quantity": 2, "must": must}
    scenario = {"id": "s", "family": "f", "goal": "Shop.", "errands": [errand], **fields}
    trajectory = Trajectory("s", turns, {"cart": [], "shown": []}, StopReason.GAVE_UP)
    return ConversationRecord(trajectory, Scenario.model_validate(scenario))


def failed(criterion: str = "cart_completeness", said: str = "Yogurt is missing.", **where: Any):
    return Verdict(criterion, 0.0, Status.SCORED, said, ("cart: empty",), **where)


def blamed(verdict: Verdict, conversation: ConversationRecord) -> dict[str, float]:
    found = credit(MAGIC, [verdict], conversation)
    assert isclose(sum(blame.share for blame in found), 1.0)
    return {blame.agent: blame.share for blame in found}


# What the trajectory shows


def forgetful_briefer() -> ConversationRecord:
    calls = (
        routed(),
        briefed(preferences="diet: vegan"),
        *searched(),
        selected("p-2"),
        changed(("p-2", 2), shown=[MILK]),
    )
    return record(turn(*calls, cart=[line(MILK)]), vegan=True)


def test_who_received_a_fact_and_did_not_pass_it_on_is_at_fault() -> None:
    verdict = failed("dietary_preferences", "Milk yogurt is not vegan.", turn=0)
    (blame,) = credit(MAGIC, [verdict], forgetful_briefer())
    assert (blame.agent, blame.turn) == ("briefer", 0)
    assert "did not pass it on" in blame.reason
    assert blame.received["preferences"] == "diet: vegan"
    assert blame.returned == {"brief": ASKED}


@pytest.mark.parametrize("named", ["selector", "preferences"])
def test_a_judge_s_word_does_not_blame_who_never_received_the_fact_or_was_never_called(
    named: str,
) -> None:
    verdict = failed("dietary_preferences", "Milk yogurt is not vegan.", turn=0, agent=named)
    assert blamed(verdict, forgetful_briefer()) == {"briefer": 1.0}


def test_a_judge_s_word_counts_where_the_trajectory_does_not_speak_against_it() -> None:
    verdict = failed("context_retention", "It asked again.", turn=0, agent="responder")
    conversation = record(turn(routed("responder")))
    (blame,) = credit(MAGIC, [verdict], conversation)
    assert (blame.agent, blame.share, blame.reason) == ("responder", 1.0, "It asked again.")


def test_who_was_told_and_chose_otherwise_is_at_fault() -> None:
    told = "Two tubs of yogurt, vegan, please."
    calls = (routed(message=told), briefed(told, message=told), *searched(told, diet=["vegan"]))
    conversation = record(turn(*calls, selected("p-2", told), message=told), vegan=True)
    (blame,) = credit(MAGIC, [failed()], conversation)
    assert blame.agent == "selector"
    assert blame.reason == "It chose Milk yogurt, although Oat yogurt was there, which is 'vegan'."


def test_who_had_no_right_choice_is_not_at_fault() -> None:
    told = "Two tubs of yogurt, vegan, please."
    calls = (routed(message=told), briefed(told, message=told), *searched(told, [MILK]))
    conversation = record(turn(*calls, selected("p-2", told, [MILK]), message=told), vegan=True)
    (blame,) = credit(MAGIC, [failed()], conversation)
    assert blame.agent == "search"
    assert blame.reason == "Its 'diet' is [], although it was told 'vegan'."


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        pytest.param(changed(("p-1", 4)), "It returned 4 units", id="doubled"),
        pytest.param(changed(("p-1", 2), ("p-1", 2)), "It returned 4 units", id="twice"),
        pytest.param(changed(), "It had Oat yogurt before it", id="nothing"),
    ],
)
def test_who_does_the_wrong_thing_with_the_right_item_is_at_fault(
    call: AgentCall, reason: str
) -> None:
    cart = [line(OAT, 4)] if call.outputs["operations"] else []
    conversation = record(turn(routed(), briefed(), *searched(), selected("p-1"), call, cart=cart))
    (blame,) = credit(MAGIC, [failed("quantity", "Yogurt: 4 instead of 2.")], conversation)
    assert blame.agent == "cart"
    assert reason in blame.reason


@pytest.mark.parametrize("asked", ["cart", "responder", "preferences"])
def test_who_asks_the_wrong_agent_is_at_fault_when_nobody_deals_with_the_wish(asked: str) -> None:
    others = {"cart": changed(shown=[]), "preferences": AgentCall("preferences", {}, {})}
    calls = [routed(asked), *([others[asked]] if asked in others else [])]
    assert blamed(failed(), record(turn(*calls))) == {"router": 1.0}


def test_another_item_than_the_one_asked_for_is_a_misreading() -> None:
    conversation = record(turn(routed(), briefed(), *searched(found=[], product="caviar")))
    assert blamed(failed(), conversation) == {"search": 1.0}


def test_who_made_a_thing_up_is_at_fault_and_not_who_believed_it() -> None:
    chatter = f"{ASKED} They like Goldhahn."
    honest = record(turn(routed(), briefed(chatter), *searched(chatter, [], brand="Goldhahn")))
    assert blamed(failed(), honest) == {"briefer": 1.0}
    inventive = record(turn(routed(), briefed(), *searched(found=[], brand="Goldhahn")))
    assert blamed(failed(), inventive) == {"search": 1.0}


def test_what_nobody_was_told_blames_nobody_in_particular() -> None:
    calls = (*searched(), selected("p-2"), changed(("p-2", 2), shown=[MILK]))
    conversation = record(turn(routed(), briefed(), *calls, cart=[line(MILK)]), vegan=True)
    verdict = failed("dietary_preferences", "Milk yogurt is not vegan.", turn=0)
    assert blamed(verdict, conversation) == {"briefer": 1 / 3, "search": 1 / 3, "selector": 1 / 3}


def test_the_first_turn_that_went_wrong_counts_most_but_not_alone() -> None:
    late = "Please add the yogurt."
    conversation = record(
        turn(routed("responder")),
        turn(routed("cart", late), changed(message=late), message=late),
        turn(routed("cart", late), changed(message=late), message=late),
    )
    found = blamed(failed(), conversation)
    assert set(found) == {"router", "cart"}
    assert found["router"] > found["cart"]


def test_what_came_after_the_turn_the_judge_names_is_left_out() -> None:
    late = "Please add the yogurt."
    conversation = record(
        turn(routed("responder")), turn(routed("cart", late), changed(message=late), message=late)
    )
    assert blamed(failed(turn=0), conversation) == {"router": 1.0}


def test_a_turn_is_judged_by_what_was_wanted_then() -> None:
    more = "Make it three tubs of yogurt."
    three = {"id": "a", "kind": "item", "item": "yogurt", "quantity": 3}
    conversation = record(
        turn(routed(), *searched(), selected("p-1"), changed(("p-1", 2)), cart=[line(OAT)]),
        turn(routed("responder", more), cart=[line(OAT)], message=more),
        revisions=[{"turn": 2, "say": more, "errands": [three]}],
    )
    verdict = failed("quantity", "Yogurt: 2 instead of 3.")
    assert blamed(verdict, conversation) == {"router": 1.0}


def test_what_never_came_up_is_blamed_on_what_held_the_conversation_up() -> None:
    tea = {"id": "b", "kind": "item", "item": "tea"}
    yogurt = {"id": "a", "kind": "item", "item": "yogurt", "quantity": 2}
    late = "Please add the Oat yogurt."
    conversation = record(
        turn(routed(), briefed(), *searched(), selected("none")),
        turn(
            routed("cart", late),
            changed(("p-1", 2), message=late),
            cart=[line(OAT)],
            message=late,
        ),
        errands=[yogurt, tea],
    )
    assert blamed(failed(said="Tea is missing."), conversation) == {"selector": 1.0}


def test_what_nobody_wanted_is_blamed_on_who_chose_it_first() -> None:
    caviar = {"id": "p-9", "name": "Caviar", "brand": "Hof", "price": 9.0, "diet": []}
    line_ = {**line(caviar, 1), "product": "caviar"}
    calls = (routed("cart"), changed(("p-9", 1), shown=[OAT, caviar]))
    conversation = record(turn(*calls, cart=[line_]))
    verdict = failed("no_extras_duplicates", "Caviar was not asked for.", turn=0)
    assert blamed(verdict, conversation) == {"cart": 1.0}


# What is left when it shows nothing


def test_a_verdict_about_something_else_blames_only_who_influences_it() -> None:
    conversation = record(turn(routed(), briefed(), *searched(found=[], product="caviar")))
    tone = failed("flow_coherence", "It loses the thread.")
    assert set(blamed(tone, conversation)) == {"router", "responder"}
    success = failed("overall_success", "The customer was not content.")
    assert blamed(success, conversation) == {"search": 1.0}


def test_without_a_sign_all_listed_agents_that_were_called_share_the_blame() -> None:
    verdict = failed("flow_coherence", "It repeats itself.")
    conversation = record(turn(routed("responder")), errands=[])
    assert blamed(verdict, conversation) == {"router": 0.5, "responder": 0.5}


def test_only_failures_are_blamed_and_only_on_agents_that_were_called() -> None:
    passed = Verdict("quantity", 1.0, Status.SCORED, "Fine.")
    open_ = Verdict("store_selection", None, Status.INCONCLUSIVE, "Not shown.")
    assert credit(MAGIC, [passed, open_], forgetful_briefer()) == ()
    silent = record(Turn(ASKED, Reply("Hello."), {}))
    assert credit(MAGIC, [failed()], silent) == ()
    assert credit(MAGIC, [failed()], record()) == ()


def logged(*calls: AgentCall | ToolCall) -> ConversationRecord:
    """A conversation of a log that knows nothing of agents' calls, or of the world."""
    turns = (Turn("Book it.", Reply("Done.", calls), {}), Turn("Thanks.", Reply("Bye."), {}))
    trajectory = Trajectory("task-1", turns, {}, StopReason.OPEN)
    return ConversationRecord(trajectory, Scenario(id="task-1", family="logs", goal="Book."))


def test_a_log_without_any_agent_blames_nobody() -> None:
    assert credit(MAGIC, [failed(agent="router")], logged()) == ()
    assert credit(MAGIC, [failed()], logged(ToolCall("book", "", {}, "booked"))) == ()


@pytest.mark.parametrize("where", [{}, {"turn": 0}, {"turn": 1}, {"turn": 99}, {"agent": "nobody"}])
def test_the_only_agent_on_record_is_blamed_though_only_its_tools_show_it(
    where: dict[str, Any],
) -> None:
    conversation = logged(ToolCall("book", "assistant", {}, "booked"))
    (blame,) = credit(MAGIC, [failed(**where)], conversation)
    assert (blame.agent, blame.share) == ("assistant", 1.0)
    assert "nobody else" in blame.reason


def test_a_judge_can_name_one_of_several_agents_whose_tools_alone_are_on_record() -> None:
    calls = (ToolCall("find", "finder", {}, []), ToolCall("book", "booker", {}, "booked"))
    assert blamed(failed(agent="booker"), logged(*calls)) == {"booker": 1.0}
    assert blamed(failed(), logged(*calls)) == {"finder": 0.5, "booker": 0.5}


def test_a_world_of_other_conventions_does_no_harm() -> None:
    call = AgentCall("agent", {"message": 3}, {"reply": None, "quantity": "two", "diet": 7})
    state = {"cart": [{"name": "Yogurt"}, {"product_id": "x", "product": "yogurt"}]}
    conversation = record(Turn("Hi", Reply("Hello.", (call,)), state), vegan=True)
    assert blamed(failed(), conversation) == {"agent": 1.0}


# What an agent reads


def test_feedback_is_for_one_agent_with_the_gravest_first() -> None:
    minor = failed("dietary_preferences", "Milk yogurt is not vegan.", turn=0)
    grave = failed("cart_completeness", "Yogurt: not vegan.", turn=0)
    verdicts = Verdicts((minor, grave), {"rubric": MAGIC.fingerprint})
    first, second = verdicts.feedback_for("briefer", MAGIC, forgetful_briefer())
    assert (first.criterion.id, second.criterion.id) == (grave.criterion, minor.criterion)
    assert first.points == 15
    assert verdicts.feedback_for("search", MAGIC, forgetful_briefer()) == ()


def test_feedback_says_where_what_was_seen_and_what_would_have_been_good() -> None:
    verdict = failed("dietary_preferences", "Milk yogurt is not vegan.", turn=0)
    (feedback,) = Verdicts((verdict,)).feedback_for("briefer", MAGIC, forgetful_briefer())
    assert feedback.text.splitlines() == [
        "Wrong: Dietary preferences (turn 1). Milk yogurt is not vegan.",
        "It received 'vegan' and did not pass it on to selector.",
        "Evidence: cart: empty",
        f"Received: message: {ASKED}; history: ; preferences: diet: vegan; agent: search",
        f"Returned: brief: {ASKED}",
        "Good: Every product that the need concerns respects it. Hand known dietary needs to "
        "every agent that looks for or chooses food.",
    ]


def test_shares_of_all_points_lost_sum_to_one() -> None:
    critical = failed("cart_completeness", "?")  # 15 points
    other = failed("flow_coherence", "?")  # 3 points
    blames = [Blame(critical, "cart", 1.0, ""), Blame(other, "router", 1.0, "")]
    assert shares(MAGIC, blames) == {"cart": 15 / 18, "router": 3 / 18}
    assert shares(MAGIC, []) == {}
