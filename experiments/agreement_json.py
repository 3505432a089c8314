"""Agreement as JSON values."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ..rubrics.agreement import JudgeAgreement
from ..rubrics.annotator_agreement import AnnotatorAgreement
from ..rubrics.comparison import Comparison
from .agreement_run import AgreementReport, Weighted
from .agreement_words import of_judge, of_people


def report_json(report: AgreementReport) -> dict[str, Any]:
    """Return a report as JSON values."""
    rubric = report.rubric
    return {
        "items": len(report.labels),
        "conversations": len({label.item.conversation for label in report.labels}),
        "ties": sum(len(label.options) > 1 for label in report.labels),
        "repeated": report.repeated,
        "rulings_repeated": report.rulings_repeated,
        "confidence": report.confidence,
        "rubric": rubric and {"id": rubric.id, "fingerprint": rubric.fingerprint},
        "rubric_changed": report.rubric_changed,
        "judge": dict(report.by),
        "people": {name: _people(name, each) for name, each in report.people.items()},
        "people_weighted": _weighted(report.people_weighted),
        "criteria": {name: _judge(name, each) for name, each in report.judge.items()},
        "judge_weighted": _weighted(report.judge_weighted),
    }


def _people(name: str, people: AnnotatorAgreement) -> dict[str, Any]:
    return {
        "items": people.items,
        "shared": people.shared,
        "ratings": people.ratings,
        "annotators": list(people.annotators),
        "not_applicable": people.not_applicable,
        "level": str(people.level),
        "alpha": asdict(people.alpha),
        "one_against_the_others": _comparison(people.left_out),
        "pairs": [asdict(pair) for pair in people.pairs],
        "said": list(of_people(name, people)),
    }


def _judge(name: str, judge: JudgeAgreement) -> dict[str, Any]:
    counts = {
        "items": judge.items,
        "ties": judge.ties,
        "not_decided": judge.not_decided,
        "not_judged": judge.not_judged,
        "inconclusive": judge.inconclusive,
        "only_judge_excuses": judge.only_judge_excuses,
        "only_people_excuse": judge.only_people_excuse,
        "both_excuse": judge.both_excuse,
        "off_scale": judge.off_scale,
    }
    return {
        **counts,
        **_comparison(judge.comparison),
        "reliability": judge.reliability and asdict(judge.reliability),
        "said": list(of_judge(name, judge)),
    }


def _comparison(found: Comparison) -> dict[str, Any]:
    return {
        "n": found.n,
        "conversations": found.conversations,
        "values": list(found.scale.values),
        "confusion": [list(row) for row in found.confusion],
        "measures": {str(name): asdict(each) for name, each in found.estimates.items()},
    }


def _weighted(weighted: Weighted | None) -> dict[str, Any] | None:
    if weighted is None:
        return None
    return {
        "overall": asdict(weighted.overall),
        "domains": {name: asdict(each) for name, each in weighted.domains.items()},
    }
