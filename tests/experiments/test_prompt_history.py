from __future__ import annotations

from typing import Any

import pytest

from cotune.experiments.lineage import changed_agents, told_line
from cotune.experiments.prompt_history import MOST_STEPS, PromptChange, prompt_changes
from cotune.experiments.run_record import RunRecord
from cotune.experiments.word_diff import Kind, Line


def _words(change: PromptChange, kind: Kind) -> list[str]:
    lines = (line for line in change.lines if isinstance(line, Line))
    return [piece.text for line in lines for piece in line.pieces if piece.kind is kind]


@pytest.fixture
def told(record: RunRecord) -> RunRecord:
    """A run of two agents: 1 changes both, 2 leads nowhere, 3 changes the router again."""
    prompts = [
        {"router": "Send it on.", "cart": "Count."},
        {"router": "Send it on, quickly.", "cart": "Count twice."},
        {"router": "Send nothing.", "cart": "Count."},
        {"router": "Send it on, very quickly.", "cart": "Count twice."},
    ]
    candidates = [
        _candidate(record, number, parent, texts)
        for number, (parent, texts) in enumerate(zip((None, 0, 0, 1), prompts, strict=True))
    ]
    alone = ({"agent": "cart", "score": 0.6, "gain": 0.1},)
    changes = {"candidates": candidates, "winner": 3, "single_changes": alone, "finalists": ()}
    return RunRecord.model_validate({**record.model_dump(), **changes})


def _candidate(
    record: RunRecord, number: int, parent: int | None, prompts: dict[str, str]
) -> dict[str, Any]:
    about = {"number": number, "parent": parent, "diagnosis": f"because of {number}"}
    return {**record.seed.model_dump(), **about, "prompts": prompts}


def test_each_change_has_the_steps_of_the_winner_s_own_line(told: RunRecord) -> None:
    router, cart = prompt_changes(told)
    assert [step.candidate.diagnosis for step in router.steps] == ["because of 1", "because of 3"]
    assert [step.candidate.number for step in cart.steps] == [1]
    assert router.steps[0].agents == ("router", "cart")
    assert all(step.lines for step in router.steps)
    assert not cart.steps[0].lines, "its only step is the whole difference"
    assert (router.alone, cart.alone) == (None, 0.1)


def test_the_difference_is_from_seed_to_winner(told: RunRecord) -> None:
    router, cart = prompt_changes(told)
    assert _words(router, Kind.ADDED) == [", very quickly"]
    assert (router.added, router.removed) == (3, 0)
    assert _words(cart, Kind.ADDED) == [" twice"]


def test_when_the_seed_stays_nothing_changed(told: RunRecord) -> None:
    assert prompt_changes(told.model_copy(update={"winner": 0})) == []


def test_a_long_line_is_cut(record: RunRecord) -> None:
    many = [
        _candidate(record, number, number - 1 if number else None, {"router": f"Rule {number}."})
        for number in range(31)
    ]
    long = RunRecord.model_validate({**record.model_dump(), "candidates": many, "winner": 30})
    (change,) = prompt_changes(long)
    assert (len(change.steps), change.earlier) == (MOST_STEPS, 10)
    assert change.steps[-1].candidate.number == 30
    assert told_line(long, 30) == "0 → … → 25 → 26 → 27 → 28 → 29 → 30"
    assert told_line(long, 2) == "0 → 1 → 2"
    assert changed_agents(long, long.seed) == []


def test_a_record_out_of_order_is_refused(told: RunRecord) -> None:
    dump = told.model_dump()
    for changes in ({"winner": 4}, {"winner": -1}, {"candidates": dump["candidates"][::-1]}):
        with pytest.raises(ValueError, match="candidate"):
            RunRecord.model_validate({**dump, **changes})
