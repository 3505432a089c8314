from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console

from cotune.experiments.present import conclude
from cotune.experiments.run_record import RunRecord


def test_the_password_of_the_tracking_server_is_not_printed(
    record: RunRecord, capsys: pytest.CaptureFixture[str]
) -> None:
    uri = "http://me:hunter2@mlflow.example?token=hunter2"
    conclude(record, Path("report.html"), uri, Console(width=200))
    said = capsys.readouterr().out
    assert "MLflow:  http://…@mlflow.example?token=…" in said


def test_what_a_run_says_cannot_steer_the_terminal(
    record: RunRecord, capsys: pytest.CaptureFixture[str]
) -> None:
    hostile = "[/red] \x1b[2Jgone\u202e"
    criteria = tuple(one.model_copy(update={"name": hostile}) for one in record.criteria)
    said = record.model_copy(update={"stopped": hostile, "criteria": criteria})
    conclude(said, Path("report.html"), None, Console(width=200))
    shown = capsys.readouterr().out
    assert "The search ended: [/red] gone\n" in shown
    assert "\x1b[2J" not in shown
    assert "\u202e" not in shown


def test_the_command_that_shows_mlflow_can_be_typed_as_it_is(
    record: RunRecord, capsys: pytest.CaptureFixture[str]
) -> None:
    conclude(record, Path("report.html"), "sqlite:////my runs/mlflow.db", Console(width=200))
    assert "--backend-store-uri 'sqlite:////my runs/mlflow.db'" in capsys.readouterr().out
