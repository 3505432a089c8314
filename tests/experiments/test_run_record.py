from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from cotune.experiments.conclusion import number, reading, sentence, signed
from cotune.experiments.run_record import RunRecord, installed_versions, record_of
from cotune.optimizer.result import RunResult
from cotune.rubrics.statistics import conclude

from .conftest import RoutingTask, about, run

WHEN = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def test_the_record_reads_back_as_it_was_written(record: RunRecord, tmp_path: Path) -> None:
    path = record.save(tmp_path)
    assert path.name == "result.json"
    assert RunRecord.model_validate_json(path.read_text(encoding="utf-8")) == record


def test_it_says_what_the_result_says(improved: RunResult, record: RunRecord) -> None:
    assert record.winner == improved.winner.number != 0
    assert record.chosen.val_score == improved.winner.val_score
    assert record.held_out == improved.held_out
    assert record.overfit == improved.overfit
    assert record.rollouts == improved.rollouts <= record.plan.total
    assert [one.prompts for one in record.candidates] == [
        one.bundle.texts() for one in improved.pool.candidates
    ]
    assert record.chosen.bundle.fingerprint == record.chosen.fingerprint
    assert record.chosen.on_example_front
    assert "+## Rules" in record.diff


def test_it_names_the_criteria_that_wait_for_a_judge(record: RunRecord) -> None:
    assert [one.id for one in record.criteria if one.needs_judge] == ["tone"]


def test_a_replayed_run_gives_the_same_record_but_for_the_invocation(tmp_path: Path) -> None:
    first, second = (
        json.loads(record_of(run(RoutingTask(), tmp_path), about()).model_dump_json())
        for _ in range(2)
    )
    before, after = first.pop("invocation"), second.pop("invocation")
    assert first == second
    assert before["replays"] == []
    assert after["replays"] == [{"role": "task", "agent": "routing", "calls": first["rollouts"]}]
    assert before["sent"][0]["sent"]["model"] == "scripted:fake"


def test_the_time_is_in_one_place(improved: RunResult) -> None:
    text = record_of(improved, about(), finished=WHEN).model_dump_json()
    assert text.count("2026-01-02T03:04:05+00:00") == 1


def test_faults_are_counted_by_origin_and_kind(tmp_path: Path) -> None:
    result = run(RoutingTask(lost=frozenset({"val-3", "test-5"})), tmp_path)
    record = record_of(result, about())
    (count,) = record.faults
    assert (count.origin, count.kind, count.count) == ("provider", "rate_limit", len(result.faults))
    assert record.held_out is not None
    assert record.held_out.lost == 1


def test_an_improvement_is_said_with_its_interval(record: RunRecord) -> None:
    said = sentence(record)
    assert record.held_out is not None
    difference = record.held_out.overall.difference
    assert said.startswith("Improved: on 40 unseen examples")
    assert signed(difference.mean) in said
    assert f"(95 % interval {signed(difference.low)} to {signed(difference.high)})" in said
    assert "above 0" in reading(record)


def test_a_seed_that_stays_claims_nothing(noise: RunResult) -> None:
    record = record_of(noise, about())
    assert record.winner == 0
    assert record.diff == ""
    assert sentence(record).startswith("The seed stays: no ")
    assert "nothing can be said" in reading(record)


def test_no_evidence_is_not_called_equality(record: RunRecord) -> None:
    record = _with_difference(record, -0.05, 0.15)
    assert sentence(record).startswith("No evidence of a difference")
    assert "no proof that they are equal" in reading(record)


def test_a_loss_is_called_a_loss(record: RunRecord) -> None:
    record = _with_difference(record, -0.3, -0.1)
    assert sentence(record).startswith("Worse:")
    assert "Keep the seed" in reading(record)


def test_a_critical_criterion_that_failed_more_often_is_named(record: RunRecord) -> None:
    assert "critical" not in sentence(record)
    assert record.held_out is not None
    assert record.deployable
    safety = ("'harmless' failed in 2 of 40 rollouts with the winner, in 0 with the seed",)
    held_out = replace(record.held_out, deployable=False, safety=safety)
    unsafe = record.model_copy(update={"held_out": held_out})
    said = sentence(unsafe)
    assert said.startswith("Improved: ")
    assert "Not deployable, because of what is critical" in said
    assert "'Nothing is paid by mistake' failed in 2 of 40 rollouts" in said
    assert not unsafe.deployable


def test_a_test_split_that_was_used_before_is_admitted(improved: RunResult) -> None:
    said = [sentence(record_of(replace(improved, earlier_tests=n), about())) for n in (0, 1, 2)]
    assert "earlier" not in said[0]
    assert said[1].endswith("used for 1 earlier winner, so the interval is too kind.")
    assert said[2].endswith("used for 2 earlier winners, so the interval is too kind.")


def test_without_an_interval_nothing_is_concluded(record: RunRecord) -> None:
    record = _with_difference(record, None, None)
    assert "no interval" in sentence(record)
    assert "nothing can be concluded" in reading(record)


def test_a_test_that_did_not_finish_is_no_result(record: RunRecord) -> None:
    record = record.model_copy(update={"held_out": None, "stopped": "the budget is spent"})
    assert sentence(record) == (
        f"Candidate {record.winner} was chosen but not tested: the budget is spent."
    )


def test_numbers_are_written_for_people() -> None:
    assert [number(None), number(0.5)] == ["–", "0.500"]
    assert [signed(None), signed(0.25), signed(-0.25)] == ["–", "+0.250", "−0.250"]
    assert [signed(0.0), signed(-0.0001)] == ["0.000", "0.000"]


def test_passwords_in_addresses_are_not_recorded(improved: RunResult) -> None:
    config = {"tracking": {"uri": "postgresql://me:hunter2@db.example/mlflow"}, "name": "é"}
    known = about(config=config, command="cotune --tracking http://me:hunter2@db.example")
    record = record_of(improved, known)
    assert "hunter2" not in record.model_dump_json()
    assert record.config["tracking"]["uri"].endswith("@db.example/mlflow")
    assert record.config["name"] == "é"


def test_versions_name_what_can_change_a_result() -> None:
    assert set(installed_versions()) == {"cotune", "python", "dspy", "gepa", "mlflow"}


def _with_difference(record: RunRecord, low: float | None, high: float | None) -> RunRecord:
    """Return the record with other bounds and the conclusion they allow."""
    assert record.held_out is not None
    overall = record.held_out.overall
    difference = replace(overall.difference, low=low, high=high)
    held_out = replace(
        record.held_out,
        overall=replace(overall, difference=difference),
        conclusion=conclude(difference),
    )
    return record.model_copy(update={"held_out": held_out, "conclusion": held_out.conclusion})
