"""`cotune annotate` and `cotune annotations pull`: to people in MLflow, and back."""

from __future__ import annotations

import importlib
import json
import shutil
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from cotune.agents.assistant import AgentCall, Reply, ToolCall
from cotune.experiments import calibration_run
from cotune.experiments import mlflow_judge as exported
from cotune.experiments.annotation_traces import restored
from cotune.experiments.mlflow_judge import mlflow_judge
from cotune.rubrics.annotation import read_annotations
from cotune.rubrics.judge_card import JudgeCard
from cotune.rubrics.statistics import Conclusion
from cotune.simulation.trajectory import StopReason, Trajectory, Turn
from cotune.simulation.trajectory_file import read_trajectories, write_trajectories

from ..optimizer.judged_talk import RUBRIC, is_kept
from .command_line import Said, cotune
from .test_calibrate_command import calibrate, card_in, model, prepare

__all__ = ["model"]  # the fixture

SESSION = "mlflow.trace.session"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory, mlflow_tables: Path) -> Iterator[str]:
    """A tracking database."""
    path = tmp_path_factory.mktemp("mlflow") / "mlflow.db"
    uri = f"sqlite:///{shutil.copy(mlflow_tables, path)}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
        patch.setenv("MLFLOW_ENABLE_ASYNC_TRACE_LOGGING", "false")
        import mlflow

        with warnings.catch_warnings(action="ignore"):  # MLflow warns of itself when it loads these
            for noisy in ("mlflow.pyfunc", "mlflow.genai"):
                importlib.import_module(noisy)
        before = mlflow.get_tracking_uri()
        yield uri
        mlflow.set_tracking_uri(before)


def annotate(folder: Path, uri: str, experiment: str, *more: object) -> Said:
    how = ("--rubric", folder / "r.yaml", "--mlflow", uri, "--experiment", experiment)
    return cotune("annotate", folder / "t.jsonl", *how, *more)


def pull(folder: Path, uri: str, experiment: str) -> Said:
    how = ("--rubric", folder / "r.yaml", "--mlflow", uri, "--experiment", experiment)
    return cotune("annotations", "pull", folder / "t.jsonl", *how, "--out", folder / "a.jsonl")


def traces_in(experiment: str) -> dict[str, list[Any]]:
    """The traces of each session, the first turn's first."""
    import mlflow

    found = mlflow.get_experiment_by_name(experiment)
    assert found is not None
    traces: Any = mlflow.search_traces(locations=[found.experiment_id], return_type="list")
    sessions: dict[str, list[Any]] = {}
    for trace in sorted(traces, key=lambda each: int(each.info.trace_metadata["cotune.turn"])):
        sessions.setdefault(trace.info.trace_metadata[SESSION], []).append(trace)
    return sessions


def items_of(experiment: str, queue: str) -> set[str]:
    import mlflow
    from mlflow.genai.review_queues import get_review_queue, list_review_queue_items

    found = mlflow.get_experiment_by_name(experiment)
    assert found is not None
    queue_id = get_review_queue(name=queue, experiment_id=found.experiment_id).queue_id
    return {item.item_id for item in list_review_queue_items(queue_id, max_results=200)}


def say(trace: Any, who: str, value: str, name: str = "kept", **more: Any) -> Any:
    """Give feedback as the review page does."""
    import mlflow
    from mlflow.entities import AssessmentSource

    source = AssessmentSource(more.pop("kind", "HUMAN"), who)
    return mlflow.log_feedback(
        trace_id=trace.info.trace_id, name=name, value=value, source=source, **more
    )


def test_from_conversations_over_people_in_mlflow_to_a_card(
    tmp_path: Path, store: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(exported, "open_models", calibration_run.open_models)
    prepare(tmp_path, [], 40)
    said = annotate(tmp_path, store, "talks", "--criterion", "kept", "--annotator", "ada")
    assert said.code == 0, said.err
    assert "40 conversations of 40 chosen: 40 sent." in said.words
    (queue,) = (line[9:] for line in said.out.splitlines() if line.startswith("Queue:"))
    sessions = traces_in("talks")
    assert items_of("talks", queue) == {of_one[-1].info.trace_id for of_one in sessions.values()}
    _label(sessions)
    fetched = pull(tmp_path, store, "talks")
    assert fetched.code == 0, fetched.err
    assert "60 annotations of 40 conversations by 2 annotators." in fetched.words
    assert "'meh' is neither a number nor a known word" in fetched.err
    annotations = list(read_annotations(tmp_path / "a.jsonl"))
    assert all(each.turn is None for each in annotations)
    assert {each.rationale for each in annotations if each.annotator == "ada"} == {"I looked."}
    assert pull(tmp_path, store, "talks").code == 0
    assert list(read_annotations(tmp_path / "a.jsonl")) == annotations
    people = cotune("agreement", tmp_path / "a.jsonl", "--rubric", tmp_path / "r.yaml", "--json")
    assert people.code == 0, people.err
    made = calibrate(tmp_path)
    assert made.code == 0, made.err
    assert JudgeCard.load(card_in(tmp_path)).criteria["kept"].conclusion is Conclusion.IMPROVED
    _check_judge_inside(tmp_path, dict(list(sessions.items())[:4]))


def _label(sessions: dict[str, list[Any]]) -> None:
    """Have one person answer on the last turn, and another, of half, on the session."""
    import mlflow

    for name, traces in sessions.items():
        number = int(name.removeprefix("t-"))
        right = "pass" if is_kept(number) else "fail"
        if number == 0:
            first = say(traces[-1], "ada", "fail", rationale="Too quick.")
            mlflow.override_feedback(
                trace_id=traces[-1].info.trace_id,
                assessment_id=first.assessment_id,
                value=right,
                rationale="I looked.",
                source=first.source,
            )
        else:
            say(traces[-1], "ada", right, rationale="I looked.")
        if number < 20:
            say(traces[0], "ben", right, metadata={SESSION: name})
    one = sessions["t-0"][-1]
    say(one, "a model", "pass", kind="LLM_JUDGE")
    say(one, "cyd", "meh")


def _check_judge_inside(folder: Path, sessions: dict[str, list[Any]]) -> None:
    """Hold what the judge says in `mlflow.genai.evaluate` against `cotune judge --card`."""
    import mlflow
    from mlflow.genai import evaluate

    card, rubric, out = card_in(folder), folder / "r.yaml", folder / "v.jsonl"
    files = (folder / "t.jsonl", "--rubric", rubric, "--out", out)
    assert cotune("judge", *files, "--card", card).code == 0
    rulings = [json.loads(line) for line in out.read_text().splitlines()]
    outside = {
        each["scenario"]: {said["criterion"]: said["value"] for said in each["verdicts"]}
        for each in rulings
    }
    mlflow.set_experiment("talks")
    traces = [trace for of_one in sessions.values() for trace in of_one]
    with mlflow_judge(card, str(rubric)) as judge, warnings.catch_warnings(action="ignore"):
        evaluate(data=traces, scorers=[judge])
    judged = traces_in("talks")
    for name in sessions:
        by_judge = [
            said
            for said in judged[name][0].info.assessments
            if said.source.source_type == "LLM_JUDGE" and said.source.source_id != "a model"
        ]
        inside = {said.name: float(said.feedback.value) for said in by_judge}
        assert inside == outside[name]


def shop_talk(name: str, *, family: str = "", turns: int = 2, **metadata: Any) -> Trajectory:
    """A talk whose turns call an agent and a tool and change the world."""
    calls = (
        AgentCall("cart", {"message": "milk"}, {"product": "p1"}),
        ToolCall("add", "cart", {"id": "p1"}, {"ok": True}),
    )
    made = tuple(
        Turn(f"Milk {number}.", Reply(f"Added {number}.", calls), {"cart": number}, {"why": "x"})
        for number in range(turns)
    )
    kept = {**metadata, **({"family": family} if family else {})}
    return Trajectory(name, made, {"cart": -1}, StopReason.SATISFIED, metadata=kept)


def write_shop(folder: Path, talks: list[Trajectory], **scopes: str) -> None:
    """Write talks, and a rubric of which some criteria are about turns."""
    rubric = RUBRIC.model_dump(mode="json", exclude_none=True)
    for criterion in rubric["criteria"]:
        if criterion["id"] in scopes:
            criterion |= {"scope": scopes[criterion["id"]], "aggregate": "mean"}
    write_trajectories(folder / "t.jsonl", talks)
    (folder / "r.yaml").write_text(yaml.safe_dump(rubric))


def test_turns_and_conversations_have_queues_of_their_own_and_nothing_is_sent_twice(
    tmp_path: Path, store: str
):
    talks = [shop_talk("milk", repeat=number) for number in range(3)]
    write_shop(tmp_path, talks, polite="turn")
    who = ("--annotator", "ada")
    first = annotate(tmp_path, store, "shop", "--count", 2, "--json", *who)
    assert first.code == 0, first.err
    sent = json.loads(first.out)
    assert (sent["chosen"], sent["among"], sent["new"]) == (2, 3, 2)
    again = json.loads(annotate(tmp_path, store, "shop", "--count", 3, "--json", *who).out)
    assert (again["chosen"], again["new"], again["queues"]) == (3, 1, sent["queues"])
    sessions = traces_in("shop")
    assert {name: len(of_one) for name, of_one in sessions.items()} == {
        f"milk#repeat={number}": 2 for number in range(3)
    }
    whole, turns = (queue["name"] for queue in sent["queues"])
    assert len(items_of("shop", whole)) == 3
    assert len(items_of("shop", turns)) == 6
    one = sessions["milk#repeat=1"]
    say(one[0], "ada", "fail", "polite")
    say(one[1], "ada", "n/a", "polite")
    say(one[0], "ada", "fail", "kept", rationale="It went wrong here.")
    say(one[1], "ben", "pass", "kept")
    assert pull(tmp_path, store, "shop").code == 0
    found = list(read_annotations(tmp_path / "a.jsonl"))
    assert {each.conversation for each in found} == {"milk#repeat=1"}
    assert {(each.criterion, each.annotator, each.turn, each.value) for each in found} == {
        ("polite", "ada", 0, 0.0),
        ("polite", "ada", 1, None),
        ("kept", "ada", 0, 0.0),
        ("kept", "ben", None, 1.0),
    }


def test_what_was_sent_comes_back_whole_and_another_talk_of_the_name_is_refused(
    tmp_path: Path, store: str
):
    write_shop(tmp_path, [shop_talk("milk", repeat=0)])
    assert annotate(tmp_path, store, "whole").code == 0
    (talk,) = read_trajectories(tmp_path / "t.jsonl")
    (session,) = traces_in("whole").values()
    silent = tuple(replace(turn, notes={}) for turn in talk.turns)
    assert restored(session) == replace(talk, turns=silent)
    assert session[-1].info.request_preview == (
        "Customer: Milk 0.\n\nAssistant: Added 0.\n\nCustomer: Milk 1."
    )
    write_shop(tmp_path, [shop_talk("milk", turns=3, repeat=0)])
    for said in (annotate(tmp_path, store, "whole"), pull(tmp_path, store, "whole")):
        assert said.code == 2
        assert "another conversation 'milk#repeat=0'" in said.err


def test_what_cannot_be_sent_is_a_usage_error(tmp_path: Path):
    write_shop(tmp_path, [shop_talk("milk"), shop_talk("milk")])
    nowhere = f"sqlite:///{tmp_path}/none.db"
    same = annotate(tmp_path, nowhere, "x")
    assert (same.code, "have the name of another" in same.err) == (2, True)
    unknown = annotate(tmp_path, nowhere, "x", "--criterion", "speed")
    assert (unknown.code, "no criterion 'speed'; it has: kept, polite" in unknown.err) == (2, True)
    write_shop(tmp_path, [])
    assert "no conversation that came to its end" in annotate(tmp_path, nowhere, "x").err
    missing = pull(tmp_path, nowhere, "x")
    assert (missing.code, "There is no MLflow database" in missing.err) == (2, True)
    assert not (tmp_path / "none.db").exists()
