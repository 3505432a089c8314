from __future__ import annotations

import json

from cotune.experiments.front_charts import (
    front_page,
    left_out,
    lineage_figure,
    pair_figure,
    scenario_figure,
)
from cotune.experiments.run_record import RunRecord

from .conftest import HOSTILE


def test_every_scored_candidate_has_a_row_and_the_best_of_each_example_a_mark(
    record: RunRecord,
) -> None:
    data = json.loads(scenario_figure(record).to_json() or "{}")["data"][0]
    scored = [one for one in record.candidates if one.val_score is not None]
    assert data["y"] == [f"candidate {one.number}" for one in scored]
    assert set(data["x"]) == set(record.seed.val)
    marks = [row.count("●") for row in data["text"]]
    assert marks == [one.wins for one in scored]


def test_pairs_are_shown_one_at_a_time_with_their_own_front(record: RunRecord) -> None:
    figure = pair_figure(record)
    assert figure is not None
    shown = json.loads(figure.to_json() or "{}")
    (button,) = shown["layout"]["updatemenus"][0]["buttons"]
    assert button["label"] == "Nothing is paid by mistake / The right agent gets the message"
    assert all(button["args"][0]["visible"])
    alone = [one.model_copy(update={"objectives": {"harmless": 1.0}}) for one in record.candidates]
    assert pair_figure(record.model_copy(update={"candidates": tuple(alone)})) is None


def test_children_stand_a_generation_above_their_parents(record: RunRecord) -> None:
    lines = json.loads(lineage_figure(record).to_json() or "{}")["data"][0]
    ends = list(zip(lines["y"][::3], lines["y"][1::3], strict=True))
    assert len(ends) == sum(one.parent is not None for one in record.candidates)
    assert all(child == parent + 1 for parent, child in ends)


def test_of_many_candidates_and_examples_the_telling_ones_are_shown(record: RunRecord) -> None:
    assert left_out(record) == ""
    val = {f"val-{number:03}": number / 150 for number in range(150)}
    many = [
        record.seed.model_copy(update={"number": number, "val": val, "wins": number})
        for number in range(60)
    ]
    crowded = record.model_copy(update={"candidates": tuple(many), "winner": 7})
    data = json.loads(scenario_figure(crowded).to_json() or "{}")["data"][0]
    assert data["y"][:3] == ["candidate 0", "candidate 7", "candidate 22"]
    assert data["y"][-1] == "candidate 59"
    assert data["x"] == sorted(val)[:100], "the hardest"
    assert left_out(crowded) == (
        "20 candidates that are best on few examples and the 50 easiest examples"
    )


def test_what_a_model_wrote_is_text_on_the_page(record: RunRecord) -> None:
    hostile = [one.model_copy(update={"reason": HOSTILE}) for one in record.candidates]
    page = front_page(record.model_copy(update={"candidates": tuple(hostile), "name": HOSTILE}))
    assert HOSTILE not in page
    assert page.count("<h2>") == 4
