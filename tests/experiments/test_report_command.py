"""`cotune report`: the page of a finished run, written again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer

from cotune.experiments.contrast import save_contrasts
from cotune.experiments.report import render_report
from cotune.experiments.run_record import RunRecord

from .command_line import cotune
from .contrasts import contrast, judged

TURNS = [("Milk, please.", "It is in the cart.")]
CONTRASTS = [contrast(judged(0.0, TURNS), judged(1.0, TURNS))]


@pytest.fixture
def runs(record: RunRecord, tmp_path: Path) -> Path:
    """The folder of runs, with one that has ended."""
    folder = tmp_path / "runs" / record.name
    folder.mkdir(parents=True)
    record.save(folder)
    save_contrasts(CONTRASTS, folder)
    return folder.parent


def test_the_page_is_written_again_and_the_conclusion_said(runs: Path, record: RunRecord) -> None:
    page = runs / record.name / "report.html"
    for named in ((record.name, "--out", runs), (runs / record.name,)):
        said = cotune("report", *named)
        assert said.code == 0, said.err
        assert "Improved: on 40 unseen examples" in said.words
        assert f"Report: {page}" in said.words
        assert page.read_text(encoding="utf-8") == render_report(record, CONTRASTS)
        page.unlink()


def test_the_page_can_be_written_elsewhere(runs: Path, record: RunRecord, tmp_path: Path) -> None:
    elsewhere = tmp_path / "new" / "page.html"
    said = cotune("report", record.name, "--out", runs, "--to", elsewhere)
    assert said.code == 0, said.err
    assert elsewhere.is_file()
    assert not (runs / record.name / "report.html").exists()


def test_the_page_can_be_opened(
    runs: Path, record: RunRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(typer, "launch", opened.append)
    assert cotune("report", record.name, "--out", runs, "--open").code == 0
    assert opened == [(runs / record.name / "report.html").resolve().as_uri()]


def test_a_run_without_conversations_has_a_page(runs: Path, record: RunRecord) -> None:
    (runs / record.name / "conversations.jsonl").unlink()
    assert cotune("report", record.name, "--out", runs).code == 0


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("result.json", "{}"),
        ("result.json", "not JSON"),
        ("conversations.jsonl", '{"scenario": "milk-1"}\n'),
        ("conversations.jsonl", "not JSON\n"),
    ],
)
def test_a_damaged_file_is_named(file: str, content: str, runs: Path, record: RunRecord) -> None:
    (runs / record.name / file).write_text(content)
    said = cotune("report", record.name, "--out", runs)
    assert said.code == 2
    assert file in said.err
    assert "Traceback" not in said.err
    assert not (runs / record.name / "report.html").exists()


def test_a_damaged_conversation_is_named(runs: Path, record: RunRecord) -> None:
    path = runs / record.name / "conversations.jsonl"
    line = json.loads(path.read_text())
    line["after"]["trajectory"] = {}
    path.write_text(json.dumps(line))
    said = cotune("report", record.name, "--out", runs)
    assert said.code == 2
    assert "conversations.jsonl" in said.err


def test_what_is_no_run_has_no_page(runs: Path, tmp_path: Path) -> None:
    said = cotune("report", "nothing", "--out", runs)
    assert said.code == 2
    assert "no finished run" in said.err
    assert cotune("report", tmp_path, "--out", runs).code == 2


def test_a_page_that_cannot_be_written_is_a_sentence(runs: Path, record: RunRecord) -> None:
    said = cotune("report", record.name, "--out", runs, "--to", runs)
    assert said.code == 1
    assert "cannot be written" in said.err
