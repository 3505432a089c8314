"""What people say of traces in MLflow becomes annotations of turns and of conversations."""

from __future__ import annotations

import importlib
import shutil
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cotune.agents.errors import UsageError
from cotune.rubrics.annotation import Annotation
from cotune.rubrics.annotation_intake import Intake
from cotune.rubrics.annotation_sources.format import Format
from cotune.rubrics.annotation_sources.mlflow_assessments import read_mlflow
from cotune.rubrics.conversation_name import KnownConversations
from cotune.simulation.importers import mlflow_traces

from .rulings import RUBRIC

SESSION = "mlflow.trace.session"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory, mlflow_tables: Path) -> Iterator[str]:
    """A tracking database with a session of two turns."""
    path = tmp_path_factory.mktemp("mlflow") / "mlflow.db"
    uri = f"sqlite:///{shutil.copy(mlflow_tables, path)}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
        patch.setenv("MLFLOW_ENABLE_ASYNC_TRACE_LOGGING", "false")
        import mlflow

        with warnings.catch_warnings(action="ignore"):  # MLflow warns of itself when it loads this
            importlib.import_module("mlflow.pyfunc")
        before = mlflow.get_tracking_uri()
        mlflow.set_tracking_uri(uri)
        mlflow.set_experiment("shop")
        for number in range(2):
            span = mlflow.start_span_no_context(
                "shop",
                inputs=f"message {number}",
                metadata={SESSION: "tea"},
                start_time_ns=(number + 1) * 1_000_000_000,
            )
            span.end(outputs="reply", end_time_ns=(number + 2) * 1_000_000_000)
        yield uri
        mlflow.set_tracking_uri(before)


def said_by(who: str, kind: str = "HUMAN") -> Any:
    from mlflow.entities import AssessmentSource

    return AssessmentSource(source_type=kind, source_id=who)


def test_feedback_and_expectations_of_people_are_annotations(store: str):
    import mlflow

    (tea,) = mlflow_traces.read(store)
    first, second = tea.metadata["traces"]
    whole = {SESSION: "tea"}
    mlflow.log_feedback(
        trace_id=second, name="safety", value=False, source=said_by("ann"), rationale="Harm."
    )
    mlflow.log_feedback(
        trace_id=first, name="safety", value="yes", source=said_by("bob"), metadata=whole
    )
    mlflow.log_expectation(trace_id=first, name="tone", value=0.5, source=said_by("bob"))
    mlflow.log_feedback(trace_id=first, name="safety", value=True, source=said_by("m", "LLM_JUDGE"))
    mlflow.log_expectation(trace_id=first, name="answer", value="Tea.", source=said_by("bob"))
    changed = mlflow.log_feedback(
        trace_id=first, name="complete", value=False, source=said_by("ann")
    )
    assert changed.assessment_id is not None
    mlflow.override_feedback(
        trace_id=first, assessment_id=changed.assessment_id, value=True, source=said_by("ann")
    )
    intake = Intake(Format(), RUBRIC, KnownConversations([tea]))
    found = list(intake.take(read_mlflow("shop", Format())))
    assert {short(each) for each in found} == {
        ("safety", "ann", 0.0, 1, "Harm."),
        ("safety", "bob", 1.0, None, ""),
        ("tone", "bob", 0.5, 0, ""),
        ("complete", "ann", 1.0, 0, ""),
    }
    assert {each.conversation for each in found} == {"tea"}
    assert all(each.time is not None for each in found)
    (refused,) = intake.refused
    assert refused.unit == "assessment"
    assert "'Tea.'" in refused.reason


def short(each: Annotation) -> tuple[Any, ...]:
    return each.criterion, each.annotator, each.value, each.turn, each.rationale


def test_an_unknown_experiment_is_a_usage_error(store: str):
    with pytest.raises(UsageError, match="no experiment 'nothing like it'"):
        list(read_mlflow("nothing like it", Format()))
