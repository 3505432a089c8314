"""Cutting single agent calls out of conversations, as examples of an agent's task.

A call that no criterion is blamed on is an example of what to return. One that lost points is an
example without gold: what it should have returned, a person knows.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..agents.assistant import AgentCall
from ..agents.compact_adapter import render_value
from ..agents.counted import counted
from ..agents.errors import UsageError
from ..agents.fingerprint import canonical_json
from ..rubrics.ruling import Ruling, Share
from ..simulation.scenario_split import EVERY, Shares, deal
from ..simulation.trajectory import Trajectory
from .example import SPLITS, RecordedCall

_UNJUDGED = "check: recorded as it is; nobody has judged it."
_BLAMELESS = "check: recorded; no criterion is blamed on it."


@dataclass(frozen=True, slots=True)
class CutCall:
    """One call as an example.

    Attributes:
        example: The example; without gold where the call lost points.
        failed: Whether it did.
    """

    example: RecordedCall
    failed: bool


def cut_calls(
    agent: str, conversations: Iterable[Trajectory], rulings: Mapping[int, Ruling] | None
) -> list[CutCall]:
    """Return an agent's calls, the same inputs once; a call that failed comes before one that did.

    Args:
        agent: Whose calls.
        conversations: In the order of their file.
        rulings: By number of the conversation, from 1; those without one that counts are left
            out. None takes every call as it was recorded.

    Raises:
        UsageError: The agent was never called in what is left.
    """
    found: dict[str, CutCall] = {}
    others: set[str] = set()
    for number, conversation in enumerate(conversations, start=1):
        others |= {call.agent for _, call in conversation.agent_calls()}
        for cut in _cut(agent, number, conversation, rulings):
            same = canonical_json(cut.example.inputs)
            if same not in found or (cut.failed and not found[same].failed):
                found[same] = cut
    if not found:
        there = ", ".join(sorted(others)) or "none"
        raise UsageError(f"No call of '{agent}' was found that counts. Agents there: {there}.")
    return list(found.values())


def split_calls(calls: Sequence[CutCall], seed: int = 0) -> dict[str, list[RecordedCall]]:
    """Deal examples out to train, val and test, whole families at a time.

    Args:
        calls: The examples; failures are spread evenly.
        seed: Another seed gives another split.

    Raises:
        UsageError: There are fewer families than splits.
    """
    families: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for call in calls:
        families[call.example.family].update([EVERY, *(["failed"] if call.failed else [])])
    if len(families) < len(SPLITS):
        raise UsageError(
            f"{counted(len(families), 'family', 'families')} of scenarios cannot be split into "
            f"{', '.join(SPLITS)}: a family stays in one. Take conversations of more families."
        )
    homes = deal(dict(families), Shares().model_dump(), seed)
    return {
        split: [call.example for call in calls if homes[call.example.family] == split]
        for split in SPLITS
    }


def _cut(
    agent: str, number: int, conversation: Trajectory, rulings: Mapping[int, Ruling] | None
) -> Iterator[CutCall]:
    own = [each for each in conversation.agent_calls() if each[1].agent == agent]
    ruling = None if rulings is None else rulings.get(number)
    if rulings is not None and (ruling is None or not ruling.counts):
        return
    faults = {} if ruling is None else _faults(agent, own, ruling)
    family = str(conversation.metadata.get("family") or conversation.scenario or number)
    for place, (turn, call) in enumerate(own):
        reasons = faults.get(place, ())
        why = f"check: {' '.join(reasons)} It returned: {_returned(call)}" if reasons else None
        example = RecordedCall(
            id=f"{agent}-{number}-{turn + 1}-{place + 1}",
            family=family,
            inputs=dict(call.inputs),
            gold={} if reasons else dict(call.outputs),
            why=why or (_UNJUDGED if ruling is None else _BLAMELESS),
        )
        yield CutCall(example, bool(reasons))


def _faults(
    agent: str, own: Sequence[tuple[int, AgentCall]], ruling: Ruling
) -> dict[int, list[str]]:
    """Return by place in `own` what a call is blamed for: as credit has it, a turn's last call."""
    rationales = {(each.criterion, each.turn): each.rationale for each in ruling.verdicts}
    found: defaultdict[int, list[str]] = defaultdict(list)
    for share in ruling.blame:
        places = [at for at, (turn, _) in enumerate(own) if share.turn in (None, turn)]
        if share.agent == agent and places:
            rationale = rationales.get((share.criterion, share.turn), "")
            found[places[-1]].append(_said(share, rationale))
    return found


def _said(share: Share, rationale: str) -> str:
    reasons = " ".join(dict.fromkeys(each for each in (rationale, share.reason) if each))
    return f"{share.criterion} ({share.share:.0%}): {reasons}"


def _returned(call: AgentCall) -> str:
    return "; ".join(f"{name}: {render_value(value)}" for name, value in call.outputs.items())
