from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path

import pytest

from cotune.agents.models import ModelSettings
from cotune.experiments.lineage import line_of
from cotune.experiments.paired_detail import PairedDetail
from cotune.experiments.report import render_report, save_report
from cotune.experiments.run_record import RunRecord, record_of
from cotune.optimizer.result import RunResult
from cotune.rubrics.clustered_estimate import Estimate
from cotune.rubrics.comparison import Measure
from cotune.rubrics.judge_card import (
    Asked,
    CardCost,
    CardData,
    Earned,
    Fingerprints,
    GroupResult,
    JudgeCard,
)
from cotune.rubrics.statistics import Conclusion

from .conftest import HOSTILE, RoutingTask, about, run
from .contrasts import NASTY, blame, contrast, judged, verdict


class _Page(HTMLParser):
    """Collects the tags, the visible text and the scripts of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.ids: list[str] = []
        self.regions: list[dict[str, str | None]] = []
        self.text = ""
        self.scripts: list[str] = []
        self._inside = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self._inside = tag
        known = dict(attrs)
        self.ids += [known["id"] or ""] if "id" in known else []
        self.regions += [known] if known.get("class") in ("scroll", "chart") else []
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
    assert page.links
    assert all(link.startswith("#") for link in page.links)
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
    assert page.text.count("By criterion") == 1
    assert "By domain" not in page.text


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
    held = json.loads(page.scripts[0])
    assert set(held["charts"]) == {"scores", "front"}
    assert held["parents"] == [one.parent for one in record.candidates]
    traces = [trace for chart in held["charts"].values() for trace in chart["data"]]
    shown = {
        (number, held["texts"][text])
        for trace in traces
        for number, text in zip(
            trace.get("customdata", ()), trace.get("hovertext", ()), strict=True
        )
    }
    assert {number for number, _ in shown} == {one.number for one in record.candidates}
    assert len(shown) == len(held["texts"]) == len(record.candidates)
    assert all(f"candidate {number}<" in text for number, text in shown)


def test_it_tells_how_to_repeat_the_run(page: _Page) -> None:
    assert "cotune optimize agent router --config run.yaml" in page.text
    assert "rollouts: 320" in page.text
    assert "gepa 0.1.4" in page.text


def test_each_edit_has_what_led_to_it(record: RunRecord) -> None:
    line = [one.number for one in line_of(record, record.winner)][1:]
    told = [
        one.model_copy(update={"diagnosis": f"{HOSTILE} of {one.number}"})
        for one in record.candidates
    ]
    page = _Page(render_report(record.model_copy(update={"candidates": tuple(told)})))
    section = page.text.partition("What led to it")[2].partition("Who judged")[0]
    found = re.findall(rf"{re.escape(HOSTILE)} of (\d+)", section)
    assert [int(number) for number in found] == line
    assert page.tags.count("ins") > 1


def test_a_judge_without_a_card_is_said_to_be_uncalibrated(record: RunRecord, page: _Page) -> None:
    assert "No model judged." in page.text
    config = {"models": {"judge": {"model": "openai/some-judge"}}}
    text = _Page(render_report(record.model_copy(update={"config": config}))).text
    assert "openai/some-judge decided" in text
    assert "It was not calibrated" in text


def test_a_calibrated_judge_shows_its_card(record: RunRecord) -> None:
    text = _Page(render_report(record.model_copy(update={"card": _card()}))).text
    assert "The judge agrees better with people than before: kappa 0.200 before, 0.600" in text
    assert "0.600 (0.400 to 0.800) after" in text
    assert "2026-05-04" in text
    assert f"tone: kappa is only 0.300 {HOSTILE}" in text
    assert "It was not calibrated" not in text


def _card() -> JudgeCard:
    before, after = (
        Estimate(value, value - 0.2, value + 0.2, 40, 20, "bootstrap") for value in (0.2, 0.6)
    )
    sides = {"before": before, "prompt": after, "threshold": before, "both": after}
    gains = {f"by_{name}": after for name in ("prompt", "threshold", "both")}
    overall = GroupResult(
        name="Overall",
        weight=100,
        criteria=("tone",),
        measures={Measure.KAPPA: Earned(**sides, **gains, people=None)},
        conclusion=Conclusion.IMPROVED,
    )
    return JudgeCard(
        cotune="0.1.0",
        created=datetime(2026, 5, 4, tzinfo=UTC),
        model=ModelSettings(model="openai/some-judge"),
        asked=Asked(strategy="domain", repeats=1, conversation_tokens=4000),
        rubric="routing",
        prompts={},
        decisions={},
        fingerprints=Fingerprints(rubric="", prompts="", model="", asking="", decisions=""),
        data=CardData(
            annotations="", conversations=20, labels=40, annotators=2, gold="majority", ties=0,
            splits={"test": 20}, shares={}, seed=0, left_out={},
        ),
        confidence=0.95,
        criteria={},
        domains={},
        overall=overall,
        weak=(f"tone: kappa is only 0.300 {HOSTILE}",),
        cost=CardCost(verdicts=40, calls=1, tokens=900, usd=None),
    )  # fmt: skip


def test_why_there_is_no_chart_of_the_money(record: RunRecord, page: _Page) -> None:
    calls = sum(one.unpriced for one in record.usage)
    assert f"no money was counted: no price is known for {calls} of the calls" in page.text
    simulated = record.model_copy(update={"simulated": True})
    assert "a simulation costs nothing" in _Page(render_report(simulated)).text


def test_cost_is_summed_by_role(record: RunRecord) -> None:
    one = record.usage[0].model_copy(update={"cost": 1.25})
    two = one.model_copy(update={"agent": "cart", "cost": 0.5})
    page = render_report(record.model_copy(update={"usage": (one, two)}))
    assert re.search(r'<th scope="row">task</th>.*<td class="n">1\.7500</td></tr>', page)
    assert '<th scope="row" class="part">cart</th>' in page


def test_conversations_are_shown_and_never_run(record: RunRecord) -> None:
    lost = verdict("right_agent", 0.0, f"assistant: {NASTY[0]}", rationale=NASTY[1])
    turns = [(said, NASTY[0]) for said in NASTY]
    before = judged(0.0, turns, [lost], [blame("right_agent", NASTY[0], 1, NASTY[2])])
    page = render_report(record, [contrast(before, judged(1.0, turns), NASTY[0])])
    read = _Page(page)
    assert read.tags.count("script") == 3
    assert "img" not in read.tags
    for said in NASTY:
        assert said in read.text
    assert "mark" in read.tags
    assert "Went wrong here: The right agent gets the message" in read.text
    assert page.count('dir="auto"') > 2 * len(turns)


def test_half_an_emoji_can_be_written(record: RunRecord, tmp_path: Path) -> None:
    turns = [("so \ud83d", "fine")]
    page = render_report(record, [contrast(judged(0.0, turns), judged(1.0, turns))])
    assert "so ?" in save_report(page, tmp_path).read_text(encoding="utf-8")


def test_criteria_and_pairs_are_shown_where_they_are_known(record: RunRecord) -> None:
    assert record.held_out is not None
    overall = record.held_out.overall
    detail = PairedDetail(better=20, worse=3, same=17, criteria={"harmless": overall})
    domains = {"route": overall}
    changes = {
        "kind": "system",
        "detail": detail,
        "held_out": replace(record.held_out, objectives=domains),
    }
    text = " ".join(_Page(render_report(record.model_copy(update=changes))).text.split())
    assert "Of 40 pairs on the test the winner was better in 20, worse in 3 and the same" in text
    by_domain, by_criterion = text.partition("By domain")[2].split("By criterion", 1)
    assert by_domain.split()[0] == "Route"
    assert by_criterion.strip().startswith("Nothing is paid by mistake critical")


def test_a_large_run_has_a_page_of_moderate_size(record: RunRecord) -> None:
    many = [
        record.candidates[1].model_copy(
            update={"number": number, "parent": number - 1 if number else None, "wins": number}
        )
        for number in range(1000)
    ]
    large = record.model_copy(update={"candidates": tuple(many), "winner": 500})
    turns = [("I want two packs of milk. " * 10, "They are in the cart. " * 10)] * 12
    one = contrast(judged(0.0, turns, [verdict("right_agent", 0.0)]), judged(1.0, turns))
    page = render_report(large, [one] * 1000)
    assert len(page.encode()) < 8_000_000
    assert "200 of 1,000 are listed" in page
    assert "more are left out to keep the page small" in page


def test_everything_can_be_reached_by_keyboard(page: _Page) -> None:
    assert {link.removeprefix("#") for link in page.links} <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))
    assert page.regions
    assert all(one["tabindex"] == "0" and one["aria-label"] for one in page.regions)


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
