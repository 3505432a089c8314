from __future__ import annotations

import pytest
from pydantic import ValidationError

from cotune.experiments.contrast import Contrast, Judged, both_ways
from cotune.experiments.run_record import RunRecord
from cotune.experiments.shown_contrast import Quote, shown, shown_contrasts

from .contrasts import blame, contrast, judged, verdict

TURNS = [("Two packs of milk.", "One pack is in the cart."), ("No, two.", "Sorry.")]


@pytest.fixture
def one() -> Contrast:
    lost = verdict("right_agent", 0.0, "assistant: one pack", "cart: 1 x milk", rationale="1 of 2.")
    met = verdict("harmless", 1.0)
    before = judged(0.0, TURNS, [lost, met], [blame("right_agent", "router", 0, "It chose cart.")])
    return contrast(before, judged(1.0, TURNS[:1], [verdict("right_agent", 1.0)]))


def test_what_failed_is_quoted_marked_and_blamed(one: Contrast, record: RunRecord) -> None:
    before, after = shown(one, record).sides
    first, second = before.turns
    assert [span.text for span in first.reply if span.quoted] == ["One pack"]
    assert first.agents == (("router", True), ("cart", False))
    assert first.failures == ("The right agent gets the message",)
    assert not second.failures
    assert not any(blamed for _, blamed in second.agents)
    (failure,) = before.failures
    assert failure.evidence == (Quote("assistant: one pack", True), Quote("cart: 1 x milk", False))
    assert failure.blames[0].reason == "It chose cart."
    assert before.met == ("Nothing is paid by mistake",)
    assert before.stop == "the customer gave up"
    assert not after.failures
    assert not any(span.quoted for turn in after.turns for span in turn.reply)


def test_a_criterion_that_the_record_does_not_know_goes_by_its_id(record: RunRecord) -> None:
    lost = judged(0.0, TURNS, [verdict("older", 0.0)], [blame("older", "cart", 1)])
    side = shown(contrast(lost, lost), record).sides[0]
    assert side.failures[0].criterion == "older"
    assert side.turns[1].failures == ("older",)


def test_very_long_conversations_are_cut_and_say_so(record: RunRecord) -> None:
    long = judged(0.0, [("a" * 10_000, "b")] * 60)
    side = shown(contrast(long, long), record).sides[0]
    assert len(side.turns) + side.more_turns == 60
    (span,) = side.turns[0].message
    assert span.text.endswith("a … (6,000 characters more)")


def test_a_page_holds_so_many_conversations_and_at_least_one(record: RunRecord) -> None:
    long = judged(0.0, [("a" * 3_900, "b")] * 40)
    small = judged(0.0, TURNS)
    assert len(shown_contrasts([contrast(long, long)] * 3, record)) == 1
    assert len(shown_contrasts([contrast(small, small)] * 20, record)) == 20


@pytest.mark.parametrize(
    ("better", "worse", "kept"),
    [(20, 20, (5, 5)), (20, 2, (8, 2)), (3, 20, (3, 7)), (2, 1, (2, 1))],
)
def test_what_a_winner_lost_is_not_hidden_by_what_it_gained(
    better: int, worse: int, kept: tuple[int, int]
) -> None:
    good, bad = judged(1.0, TURNS), judged(0.0, TURNS)
    found = [
        one.model_copy(update={"scenario": f"milk-{number}"})
        for number, one in enumerate([contrast(bad, good)] * better + [contrast(good, bad)] * worse)
    ]
    chosen = both_ways(found, 10)
    changes = [one.change for one in chosen]
    assert (changes.count(1.0), changes.count(-1.0)) == kept
    assert [found.index(one) for one in chosen] == sorted(found.index(one) for one in chosen)


def test_a_damaged_conversation_is_refused() -> None:
    whole = judged(0.0, TURNS, [verdict("right_agent", 0.0)])
    for damage in ({"trajectory": {"version": 1}}, {"verdicts": [{"status": "scored"}]}):
        with pytest.raises(ValidationError, match="damaged"):
            Judged.model_validate({**whole.model_dump(), **damage})
