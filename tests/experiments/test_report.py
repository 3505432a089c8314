from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from cotune.experiments.report import render_report, save_report
from cotune.experiments.run_record import RunRecord, record_of
from cotune.optimizer.result import RunResult

from .conftest import HOSTILE, RoutingTask, about, run


class _Page(HTMLParser):
    """Collects the tags, the visible text and the scripts of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.text = ""
        self.scripts: list[str] = []
        self._inside = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self._inside = tag
        self.links += [value or "" for name, value in attrs if name in ("src", "href", "action")]

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "script":
            self.scripts.append(data)
        elif self._inside != "style":
            self.text += data


@pytest.fixture
def page(record: RunRecord) -> _Page:
    return _Page(render_report(record))


def test_the_conclusion_comes_with_its_interval_and_a_reading(page: _Page) -> None:
    assert "Improved: on 40 unseen examples" in page.text
    assert re.search(r"95 % interval \+0\.\d{3} to \+0\.\d{3}", page.text)
    assert "luck with the test examples is an unlikely explanation" in page.text


def test_a_simulation_is_announced(record: RunRecord) -> None:
    assert "Simulation:" not in _Page(render_report(record)).text
    simulated = record.model_copy(update={"simulated": True})
    assert "Simulation:" in _Page(render_report(simulated)).text


def test_nothing_is_loaded_from_elsewhere(record: RunRecord, page: _Page) -> None:
    assert page.links == []
    assert page.tags.count("script") == 3
    assert "default-src 'none'" in render_report(record)


def test_the_policy_allows_exactly_the_scripts_of_the_page(record: RunRecord, page: _Page) -> None:
    policy = re.search(r"script-src ([^\"]*)\"", render_report(record))
    assert policy is not None
    _data, *scripts = page.scripts
    digests = [hashlib.sha256(script.encode()).digest() for script in scripts]
    expected = [f"&#39;sha256-{base64.b64encode(digest).decode()}&#39;" for digest in digests]
    assert policy[1].split() == expected


def test_what_models_and_data_say_is_shown_and_never_run(record: RunRecord) -> None:
    hostile = [
        one.model_copy(update={"reason": f"copies {HOSTILE} {one.number}"})
        for one in record.candidates
    ]
    changes = {"candidates": tuple(hostile), "choice": HOSTILE, "stopped": HOSTILE}
    page = _Page(render_report(record.model_copy(update={**changes, "name": HOSTILE})))
    assert page.tags.count("script") == 3
    assert page.text.count(HOSTILE) > len(hostile)
    assert f" {record.seed.prompts['router'].splitlines()[0]}" in page.text


def test_the_test_is_shown_overall_and_by_criterion(page: _Page) -> None:
    assert "The right agent gets the message" in page.text
    assert "only a judge can decide them: The tone is right." in page.text
    assert page.text.count("critical") == 1


def test_a_critical_loss_stands_in_the_headline(record: RunRecord) -> None:
    assert record.held_out is not None
    safety = ("'harmless' failed in 2 of 40 rollouts with the winner, in 0 with the seed",)
    held_out = replace(record.held_out, deployable=False, safety=safety)
    page = render_report(record.model_copy(update={"held_out": held_out}))
    (headline,) = re.findall(r'<p class="sentence">(.*)</p>', page)
    assert "Not deployable" in headline
    assert "&#39;Nothing is paid by mistake&#39; failed in 2 of 40 rollouts" in headline
    assert "Not to be deployed" in page


def test_replayed_calls_are_told_per_agent(record: RunRecord) -> None:
    replays = ({"role": "task", "agent": "routing", "calls": 123},)
    invocation = {**record.invocation.model_dump(), "replays": replays}
    again = record.model_validate({**record.model_dump(), "invocation": invocation})
    assert '<td class="n">123</td>' in render_report(again)
    assert "123 calls were read back" in render_report(again)


def test_every_candidate_has_its_line(record: RunRecord, page: _Page) -> None:
    for one in record.candidates:
        assert one.reason in page.text


def test_the_figures_are_data(record: RunRecord, page: _Page) -> None:
    figures = json.loads(page.scripts[0])
    assert set(figures) == {"scores", "front"}
    assert all(figure["data"] for figure in figures.values())


def test_it_tells_how_to_repeat_the_run(page: _Page) -> None:
    assert "cotune optimize agent router --config run.yaml" in page.text
    assert "rollouts: 320" in page.text
    assert "gepa 0.1.4" in page.text


def test_a_run_whose_seed_stays_has_a_report(noise: RunResult) -> None:
    page = _Page(render_report(record_of(noise, about())))
    assert "The seed stays" in page.text
    assert "Nothing: the seed stays." in page.text


def test_faults_and_lost_pairs_are_reported(tmp_path: Path) -> None:
    result = run(RoutingTask(lost=frozenset({"val-3", "test-5"})), tmp_path)
    text = _Page(render_report(record_of(result, about()))).text
    assert "rate_limit" in text
    assert "left out on both sides because of a fault: 1." in text


def test_the_same_record_gives_the_same_page(record: RunRecord, tmp_path: Path) -> None:
    page = render_report(record)
    assert page == render_report(record)
    assert save_report(page, tmp_path).read_text(encoding="utf-8") == page
