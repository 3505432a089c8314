"""`optimize` from Python: one call, resumable, also in a notebook, with a result to look at."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from cotune.agents.errors import UsageError
from cotune.optimizer import optimize
from cotune.optimizer.result import RunResult
from cotune.optimizer.settings import EngineSettings

from .tasks import FakeTask, Model, Proposing, settings


@pytest.fixture(scope="module")
def result() -> RunResult:
    return optimize(FakeTask(), settings())


def test_it_finds_what_the_engine_finds(result: RunResult) -> None:
    assert result.conclusion == "improved"
    assert result.winner.number > 0


def test_the_same_folder_pays_for_nothing_twice(tmp_path: Path) -> None:
    task = FakeTask()
    first = optimize(task, settings(), folder=tmp_path)
    played = sum(task.played.values())
    again = optimize(task, settings(), folder=tmp_path)
    assert sum(task.played.values()) == played
    assert again.winner.bundle == first.winner.bundle


def test_it_works_where_a_loop_runs_as_in_a_notebook(result: RunResult) -> None:
    async def notebook() -> RunResult:
        return optimize(FakeTask(), settings())

    assert asyncio.run(notebook()).winner.bundle == result.winner.bundle


def test_calls_of_a_model_are_counted_where_it_writes_them() -> None:
    model = Model()
    chosen = settings().model_copy(update={"limits": model.limits})
    found = optimize(model.routing(), chosen, ledger=model.ledger, budget=model.budget)
    assert found.ledger.total.calls == found.rollouts > 0


def test_a_budget_that_buys_nothing_is_refused() -> None:
    with pytest.raises(UsageError, match=r"limits\.rollouts is not set"):
        optimize(FakeTask(), EngineSettings())


def test_a_table_has_every_candidate_and_objective(result: RunResult) -> None:
    rows = result.to_dataframe().reset_index().to_dict("records")
    assert [row["number"] for row in rows] == [one.number for one in result.pool.candidates]
    assert rows[0]["status"] == "seed"
    assert [row["number"] for row in rows if row["winner"]] == [result.winner.number]
    assert rows[result.winner.number]["val"] == result.winner.val_score
    assert rows[result.winner.number]["right"] == result.winner.objectives["right"]


def test_a_notebook_shows_the_conclusion_and_escapes_what_models_wrote(result: RunResult) -> None:
    shown = result._repr_html_()
    assert shown.startswith("<p><strong>improved</strong>: on 8 unseen examples the seed scores")
    hostile = Proposing(lambda assignment: {"helper": "<script>x</script>"})
    refused = optimize(FakeTask(score=lambda *_: 0.0), settings(80), proposer=hostile)
    assert len(refused.pool.candidates) > 1
    assert "<script" not in refused._repr_html_()
