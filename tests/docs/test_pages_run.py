"""The tutorial and the guides say what is so: every block is run, and prints what stands there."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ..forked_commands import Commands
from .labels import write_labels
from .page_run import Reader
from .pages import DOCS, Page

GUIDES = [
    *sorted((DOCS / "guides").glob("*.md")),
    *(
        DOCS / f"{name}.md"
        for name in (
            "adapters", "agreement", "annotations", "calibration", "doctor", "judging",
            "own-assistant", "rubrics", "scenarios", "shipping", "simulation", "system",
            "trajectories", "troubleshooting",
        )
    ),
]  # fmt: skip


def test_the_tutorial_leads_to_a_held_out_result(tutorial: Reader) -> None:
    assert (tutorial.folder / "prompts" / "sales.md").is_file()


@pytest.mark.parametrize("path", GUIDES, ids=lambda path: path.stem)
def test_a_guide_is_true(
    path: Path,
    forked: Commands,
    mlflow_tables: Path,
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    page = Page.read(path)
    folder = tmp_path / "page"
    if page.before:
        before: Reader = request.getfixturevalue("tutorial")
        shutil.copytree(before.folder, folder)
        reader = Reader(forked, folder, mlflow_tables, dict(before.environment))
        reader.place = folder / before.place.relative_to(before.folder)
    else:
        folder.mkdir()
        reader = Reader(forked, folder, mlflow_tables)
        if page.has_labels:
            write_labels(folder)
    reader.follow(page)
