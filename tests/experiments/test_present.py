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
