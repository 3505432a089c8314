"""The report in a real browser: charts are drawn, and nothing that a transcript says is run."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from cotune.experiments.report import render_report, save_report
from cotune.experiments.run_record import RunRecord

from .contrasts import NASTY, blame, contrast, judged, verdict

_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
_BROWSER = next(filter(None, map(shutil.which, _NAMES)), None)

pytestmark = pytest.mark.skipif(_BROWSER is None, reason="no Chromium is installed")


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("profile")


def _dom(page: Path, profile: Path) -> str:
    """Return the page as it is after its scripts have run."""
    command = [
        _BROWSER or "", "--headless=new", "--no-sandbox", "--disable-gpu",
        f"--user-data-dir={profile}", "--virtual-time-budget=3000", "--dump-dom", page.as_uri(),
    ]  # fmt: skip
    ended = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    return ended.stdout


def test_charts_are_drawn_and_no_transcript_is_run(
    record: RunRecord, tmp_path: Path, profile: Path
) -> None:
    lost = verdict("right_agent", 0.0, *NASTY, rationale=NASTY[0])
    turns = [(said, NASTY[0]) for said in NASTY]
    before = judged(0.0, turns, [lost], [blame("right_agent", NASTY[0], 0, NASTY[0])])
    hostile = [
        one.model_copy(update={"reason": NASTY[0], "diagnosis": NASTY[0]})
        for one in record.candidates
    ]
    changes = {"candidates": tuple(hostile), "choice": NASTY[0], "kind": "system"}
    shown = record.model_copy(update=changes)
    page = render_report(shown, [contrast(before, judged(1.0, turns), NASTY[0])])
    dom = _dom(save_report(page, tmp_path), profile)
    assert f"<title>{record.name}: Improved</title>" in dom
    assert "<img" not in dom
    for place in ("front", "scores"):
        chart = dom.partition(f'id="{place}"')[2]
        assert 'data-drawn="yes"' in chart[:400]
        assert 'class="main-svg"' in chart[:2000]
    folded = dom.partition('id="lineage"')[2]
    assert not folded.startswith(' class="js-plotly-plot"'), "it is drawn when it is opened"


def test_what_would_run_without_the_policy_is_stopped_by_it(
    record: RunRecord, tmp_path: Path, profile: Path
) -> None:
    """Nothing gets by the escaping; this is what stands behind it."""
    page = render_report(record)
    attack = "<script>document.title = 'owned'</script>"
    broken = page.replace(
        "<header>", f"<header>{attack}<img src=x onerror=\"document.title='owned'\">"
    )
    assert "<title>owned</title>" not in _dom(save_report(broken, tmp_path), profile)
    free = broken.replace("Content-Security-Policy", "Nothing")
    assert "<title>owned</title>" in _dom(save_report(free, tmp_path), profile)
