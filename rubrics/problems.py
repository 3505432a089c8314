"""Problems: what of the customer's aims was not reached, and the turns where it went wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from ..simulation.view import View
from .aims import Aim, State, aim_at, aims_of, asks_for, units_of
from .checks.shop import mentions
from .subject import ConversationRecord
from .verdict import Verdict


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that ended otherwise than wanted.

    Attributes:
        aim: What was wanted; of an unwanted item, what was wanted when it came.
        turns: Where it can have gone wrong, the first one first; never empty.
        came_up: Whether any turn was about it; else its turns are all that there are.
        unwanted: Id of an item nobody wanted, if that is the problem.
    """

    aim: Aim
    turns: tuple[int, ...]
    came_up: bool = True
    unwanted: str = ""


def all_problems(record: ConversationRecord) -> tuple[Problem, ...]:
    """Return all that ended otherwise than wanted, as far as the state shows it.

    A wish that never came up was not reached because of what went wrong before: it is left out
    when anything else is wrong in the end, and else stands for the wishes that had to wait.
    """
    if not record.trajectory.turns:
        return ()
    unmet = list(_unmet(record))
    came_up = [*(each for each in unmet if each.came_up), *_unwanted(record)]
    return tuple(came_up or (_delayed(record) if unmet else ()) or unmet)


def named_problems(verdict: Verdict, record: ConversationRecord) -> tuple[Problem, ...]:
    """Return the problems that a verdict's rationale names; turns after the verdict's are left out.

    Evidence does not count: it quotes the conversation, and with it much that is well.
    """
    return tuple(
        _until(problem, verdict.turn)
        for problem in all_problems(record)
        if _is_named(problem, verdict.rationale, record)
    )


def _unmet(record: ConversationRecord) -> Iterator[Problem]:
    trajectory = record.trajectory
    for aim in aims_of(record):
        if not aim.met_in(trajectory.final_state):
            turns = _turns_of(aim, record)
            every = tuple(range(len(trajectory.turns)))
            yield Problem(aim, turns or every, came_up=bool(turns))


def _delayed(record: ConversationRecord) -> list[Problem]:
    """Return the wishes that were met in the end, but not in every turn that was about them."""
    waited = ((aim, _turns_of(aim, record)) for aim in aims_of(record))
    return [Problem(aim, turns) for aim, turns in waited if turns]


def _turns_of(aim: Aim, record: ConversationRecord) -> tuple[int, ...]:
    """Return the turns that were about an aim, or changed what it is about, and left it unmet."""
    trajectory = record.trajectory
    states = [trajectory.initial_state, *(turn.state for turn in trajectory.turns)]
    then = [aim_at(aim, record, turn) for turn in range(len(trajectory.turns))]
    open_ = [
        turn
        for turn, (wanted, state) in enumerate(zip(then, states[1:], strict=True))
        if wanted is not None and not wanted.met_in(state)
    ]
    changed = [
        turn
        for turn, (before, after) in enumerate(pairwise(states))
        if _shown_of(aim, before) != _shown_of(aim, after)
    ]
    view, spoken = View.of(trajectory), list(enumerate(trajectory.turns))
    named = [index for index, turn in spoken if asks_for(aim, turn.message, view)]
    errand = aim.errand or None  # a customer's notes say what a message without its words is about
    meant = [index for index, turn in spoken if turn.notes.get("errand", "") == errand]
    return tuple(turn for turn in open_ if turn in changed or turn in (named or meant))


def _shown_of(aim: Aim, state: State) -> list[Any]:
    if not aim.item:
        return [state.get(name) for name in aim.reached]
    return [
        (line.get("product_id"), units_of(line))
        for line in state.get("cart") or ()
        if aim.is_line(line)
    ]


def _unwanted(record: ConversationRecord) -> Iterator[Problem]:
    """Yield the lines that came into the cart and answer no aim."""
    trajectory = record.trajectory
    wanted = aims_of(record)
    if not wanted and not record.scenario.expected:
        return
    view = View.of(trajectory)
    states = [trajectory.initial_state, *(turn.state for turn in trajectory.turns)]
    for line in trajectory.final_state.get("cart") or ():
        id_ = str(line.get("product_id"))
        units = [_units(state, id_) for state in states]
        came = [turn for turn, (old, new) in enumerate(pairwise(units)) if new > old]
        if came and not any(aim.item and aim.is_line(line) for aim in wanted):
            turn = came[-1]
            said = trajectory.turns[turn].message
            about = [aim for aim in aims_of(record, turn) if asks_for(aim, said, view)]
            yield Problem(about[0] if about else Aim(), (turn,), unwanted=id_)


def _units(state: State, id_: str) -> float:
    lines = [line for line in state.get("cart") or () if line.get("product_id") == id_]
    return sum(map(units_of, lines))


def _until(problem: Problem, turn: int | None) -> Problem:
    """Leave out what came after the turn in which the judge sees it go wrong."""
    before = [each for each in problem.turns if turn is None or each <= turn]
    return replace(problem, turns=tuple(before)) if before else problem


def _is_named(problem: Problem, said: str, record: ConversationRecord) -> bool:
    known = View.of(record.trajectory).known
    if problem.unwanted:
        names = [str(known.get(problem.unwanted, {}).get("name", problem.unwanted))]
    elif problem.aim.item:
        names = [problem.aim.item]
    else:
        names = [*problem.aim.reached, *(str(each) for each in problem.aim.reached.values())]
    return any(mentions(said, name) for name in names)
