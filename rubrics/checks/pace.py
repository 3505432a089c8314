"""Checks of a judge's structured PACE verdict: is it well-formed, and does it agree with gold?

The call's inputs hold the record, with its evidence ids under `pool`; its outputs are the judge's
answer; gold has `verdict`, `family`, `location` and perhaps `evidence`, where they are known.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..pace import FAULTLESS, Family, PaceVerdict, Quality, axis_of, read_pace
from ..subject import CallRecord
from ..verdict import Finding
from .registry import call_check


@call_check
def pace_well_formed(record: CallRecord) -> Finding:
    """The answer is a verdict, GOOD goes with NONE/NONE, and all evidence is in the pool."""
    verdict = _verdict(record)
    if isinstance(verdict, str):
        return Finding.scored(0, f"The verdict cannot be used: {verdict}.")
    return Finding.scored(1, "The verdict is whole and does not contradict itself.")


@call_check
def pace_cause(record: CallRecord) -> Finding:
    """Family and location are both those of the gold record."""
    gold = record.gold
    if "family" not in gold or "location" not in gold:
        return Finding.not_applicable("The record has no gold family and location.")
    found = (record.outputs.get("family"), record.outputs.get("location"))
    right = found == (gold["family"], gold["location"])
    said = f"Expected {gold['family']} at {gold['location']}, found {found[0]} at {found[1]}."
    return Finding.scored(right, said)


@call_check
def pace_axes(record: CallRecord) -> Finding:
    """The axis of the gold family says a defect; with a GOOD record no axis does."""
    if "verdict" not in record.gold or "family" not in record.gold:
        return Finding.not_applicable("The record has no gold verdict and family.")
    verdict = _verdict(record)
    if isinstance(verdict, str):
        return Finding.scored(0, f"There are no axes to look at: {verdict}.")
    evidence = tuple(f"{name}={value:g}" for name, value in verdict.axes.model_dump().items())
    faulty = verdict.axes.faulty
    found = f"below {FAULTLESS:g}: {_listed(faulty)}."
    if record.gold["verdict"] == Quality.GOOD:
        return Finding.scored(not faulty, f"The record is GOOD; {found}", evidence)
    axis = axis_of(Family(record.gold["family"]))
    return Finding.scored(axis in faulty, f"The defect is of the axis {axis}; {found}", evidence)


@call_check
def pace_evidence(record: CallRecord) -> Finding:
    """At least one piece of the gold evidence is named."""
    gold = record.gold.get("evidence")
    if not gold:
        return Finding.not_applicable("The record has no gold evidence.")
    verdict = _verdict(record)
    if isinstance(verdict, str):
        return Finding.scored(0, f"There is no evidence to look at: {verdict}.")
    named = set(verdict.evidence) & set(gold)
    said = f"Expected one of {_listed(gold)}, found {_listed(verdict.evidence)}."
    return Finding.scored(bool(named), said, verdict.evidence)


def _verdict(record: CallRecord) -> PaceVerdict | str:
    """Read the answer; a text says why it is none."""
    try:
        return read_pace(record.outputs, _pool(record.inputs))
    except ValueError as error:
        return " ".join(str(error).split())


def _pool(inputs: Mapping[str, Any]) -> list[str]:
    """Return the ids of a record's evidence, which may be given as ids or as entries with one."""
    pool = inputs.get("pool") or []
    return [str(each["id"]) if isinstance(each, Mapping) else str(each) for each in pool]


def _listed(names: Any) -> str:
    return ", ".join(str(name) for name in names) or "none"
