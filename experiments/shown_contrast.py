"""A contrast as the report shows it: both conversations, what failed in each, and who is blamed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..agents.assistant import AgentCall
from ..rubrics.verdict import Verdict
from ..simulation.trajectory import StopReason, Trajectory, Turn
from .contrast import BlameRecord, Contrast, Judged
from .highlight import Span, places, spans
from .run_record import RunRecord

MOST_TURNS = 40
MOST_CHARACTERS = 4_000
"""Of one message."""
_PAGE_CHARACTERS = 300_000
"""Of all conversations on a page."""
_STOPS = {
    StopReason.OPEN: "it goes on",
    StopReason.SATISFIED: "the customer was satisfied",
    StopReason.GAVE_UP: "the customer gave up",
    StopReason.REFUSED: "the assistant refused",
    StopReason.OUT_OF_SCOPE: "it was out of scope",
    StopReason.TURN_LIMIT: "the limit of turns was reached",
    StopReason.SCRIPT_ENDED: "the script ended",
}


@dataclass(frozen=True, slots=True)
class Quote:
    """A piece of evidence, and whether it stands in the conversation word for word."""

    text: str
    found: bool


@dataclass(frozen=True, slots=True)
class Failure:
    """A criterion that lost points.

    Attributes:
        criterion: Its name.
        critical: Whether it is critical.
        value: What it got, 0 to 1.
        rationale: What was expected and what was found.
        evidence: What was looked at.
        blames: Who is at fault.
    """

    criterion: str
    critical: bool
    value: float
    rationale: str
    evidence: tuple[Quote, ...]
    blames: tuple[BlameRecord, ...]

    @property
    def size(self) -> int:
        """Characters that are shown of it."""
        texts = [self.rationale, *(each.text for each in self.evidence)]
        return sum(map(len, [*texts, *(blame.reason for blame in self.blames)]))


@dataclass(frozen=True, slots=True)
class ShownTurn:
    """One exchange.

    Attributes:
        number: Counted from 1.
        message: What the customer said, with quotes.
        reply: What the assistant said, with quotes.
        agents: Who worked on it, in order, and whether they are blamed for something in it.
        failures: Names of the criteria that somebody is blamed for here.
    """

    number: int
    message: tuple[Span, ...]
    reply: tuple[Span, ...]
    agents: tuple[tuple[str, bool], ...]
    failures: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ShownSide:
    """One side of a contrast.

    Attributes:
        title: Whose prompts it was played with.
        score: What it was worth, 0 to 1.
        stop: Why it ended.
        turns: What customer and assistant said.
        more_turns: How many are left out.
        failures: What lost points.
        met: Names of the criteria that were met.
    """

    title: str
    score: float
    stop: str
    turns: tuple[ShownTurn, ...]
    more_turns: int
    failures: tuple[Failure, ...]
    met: tuple[str, ...]

    @property
    def size(self) -> int:
        """Characters that are shown of it."""
        said = sum(len(each.text) for turn in self.turns for each in (*turn.message, *turn.reply))
        return said + sum(failure.size for failure in self.failures)


@dataclass(frozen=True, slots=True)
class ShownContrast:
    """One scenario of the test, before and after."""

    scenario: str
    goal: str
    change: float
    sides: tuple[ShownSide, ShownSide]


def shown_contrasts(contrasts: Iterable[Contrast], record: RunRecord) -> list[ShownContrast]:
    """Return as many contrasts as a page can hold."""
    found: list[ShownContrast] = []
    room = _PAGE_CHARACTERS
    for contrast in contrasts:
        one = shown(contrast, record)
        room -= sum(side.size for side in one.sides)
        if found and room < 0:
            break
        found.append(one)
    return found


def shown(contrast: Contrast, record: RunRecord) -> ShownContrast:
    """Return a contrast with everything named."""
    sides = _side("Seed", contrast.before, record), _side("Winner", contrast.after, record)
    return ShownContrast(contrast.scenario, contrast.goal, contrast.change, sides)


def _side(title: str, judged: Judged, record: RunRecord) -> ShownSide:
    trajectory, titles = judged.restored(), record.criterion_titles
    verdicts = list(judged.scored())
    failed = [one for one in verdicts if (one.value or 0.0) < 1]
    return ShownSide(
        title=title,
        score=judged.score,
        stop=_stop(trajectory),
        turns=_turns(trajectory, failed, judged.blames, titles),
        more_turns=max(0, len(trajectory.turns) - MOST_TURNS),
        failures=tuple(_failure(one, judged, trajectory, record) for one in failed),
        met=tuple(titles.get(one.criterion, one.criterion) for one in verdicts if one.value == 1),
    )


def _stop(trajectory: Trajectory) -> str:
    if trajectory.fault is not None:
        return f"the assistant failed: {trajectory.fault.message}"
    return _STOPS.get(trajectory.stop, str(trajectory.stop))


def _turns(
    trajectory: Trajectory,
    failed: Sequence[Verdict],
    blames: Sequence[BlameRecord],
    titles: dict[str, str],
) -> tuple[ShownTurn, ...]:
    quotes = [quote for verdict in failed for quote in verdict.evidence]
    at: defaultdict[int, list[BlameRecord]] = defaultdict(list)
    for blame in blames:
        if blame.turn is not None:
            at[blame.turn].append(blame)
    return tuple(
        ShownTurn(
            number=index + 1,
            message=spans(_cut(turn.message), quotes),
            reply=spans(_cut(turn.reply.text), quotes),
            agents=_agents(turn, {blame.agent for blame in at[index]}),
            failures=tuple(
                dict.fromkeys(titles.get(one.criterion, one.criterion) for one in at[index])
            ),
        )
        for index, turn in enumerate(trajectory.turns[:MOST_TURNS])
    )


def _agents(turn: Turn, blamed: set[str]) -> tuple[tuple[str, bool], ...]:
    called = [call.agent for call in turn.reply.calls if isinstance(call, AgentCall)]
    return tuple((agent, agent in blamed) for agent in dict.fromkeys([*called, *sorted(blamed)]))


def _failure(
    verdict: Verdict, judged: Judged, trajectory: Trajectory, record: RunRecord
) -> Failure:
    known = {one.id: one for one in record.criteria}
    criterion = known.get(verdict.criterion)
    return Failure(
        criterion=verdict.criterion if criterion is None else criterion.name,
        critical=criterion is not None and criterion.critical,
        value=verdict.value or 0.0,
        rationale=verdict.rationale,
        evidence=tuple(Quote(_cut(each), _stands(each, trajectory)) for each in verdict.evidence),
        blames=tuple(one for one in judged.blames if one.criterion == verdict.criterion),
    )


def _stands(quote: str, trajectory: Trajectory) -> bool:
    said = (text for turn in trajectory.turns for text in (turn.message, turn.reply.text))
    return any(places(text, quote) for text in said)


def _cut(text: str) -> str:
    more = len(text) - MOST_CHARACTERS
    return text if more <= 0 else f"{text[:MOST_CHARACTERS]} … ({more:,} characters more)"
