"""Customers who repeat a logged conversation for as long as it fits, and then think for themselves.

The hybrid of multi-agent, multi-turn GEPA: a logged conversation cannot simply be replayed
against a changed assistant, since a customer's line may answer something that is no longer
said. While the assistant does what it did in the log, the real customer's next line is used;
from the first difference on a grounded customer, who knows the scenario's constraints, goes on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from ...agents.counted import counted
from ...agents.errors import UsageError
from ...agents.fingerprint import fingerprint
from ..equivalence import Comparison, Equivalence, SameActsAndCalls
from ..scenario import Scenario
from ..trajectory import Trajectory, Turn
from ..turn_checks import CUSTOMERS_REASONS
from ..user import Say, Stop, User, UserKind, UserMove


@dataclass(frozen=True, slots=True)
class ReplayUsers:
    """Customers who follow a log while the assistant does the same, then are grounded ones.

    Attributes:
        logs: Logged conversations by scenario id.
        then: The kind that takes over, in the middle of a conversation.
        equivalence: Decides whether the assistant does the same.
    """

    logs: Mapping[str, Trajectory]
    then: UserKind
    equivalence: Equivalence = field(default_factory=SameActsAndCalls)

    @property
    def identity(self) -> Mapping[str, Any]:
        """The logs, who takes over, and when."""
        return {
            "user": "replay",
            "logs": fingerprint({id_: _content(log) for id_, log in self.logs.items()}),
            "then": self.then.identity,
            "equivalence": self.equivalence.identity,
        }

    def start(self, scenario: Scenario, seed: int) -> User:
        """Return a customer with the scenario's log at hand.

        Raises:
            UsageError: There is no log of this scenario, or it is empty.
        """
        log = _log_of(self.logs, scenario)
        return _ReplayUser(log, self.then, scenario, seed, self.equivalence)


@dataclass(frozen=True, slots=True)
class FirstLineUsers:
    """Customers whose first line is from the log, and the rest is simulated.

    Attributes:
        logs: Logged conversations by scenario id.
        then: The kind that goes on after the first line.
    """

    logs: Mapping[str, Trajectory]
    then: UserKind

    @property
    def identity(self) -> Mapping[str, Any]:
        """The first lines, and who goes on."""
        lines = {id_: log.turns[0].message for id_, log in self.logs.items() if log.turns}
        return {"user": "first_line", "lines": fingerprint(lines), "then": self.then.identity}

    def start(self, scenario: Scenario, seed: int) -> User:
        """Return a customer with a first line.

        Raises:
            UsageError: There is no log of this scenario, or it is empty.
        """
        log = _log_of(self.logs, scenario)
        return _ReplayUser(log, self.then, scenario, seed, _OnlyTheFirstLine())


@dataclass(slots=True)
class _ReplayUser:
    """One customer, who remembers whether the log still fits."""

    log: Trajectory
    then: UserKind
    scenario: Scenario
    seed: int
    equivalence: Equivalence
    grounded: User | None = None

    async def next(self, so_far: Trajectory, objections: Sequence[str]) -> UserMove:
        if self.grounded is not None:
            return await self.grounded.next(so_far, objections)
        fits = await self._fits(so_far, objections)
        if fits.equivalent:
            move = self._logged(len(so_far.turns))
        else:
            self.grounded = self.then.start(self.scenario, self.seed)
            move = await self.grounded.next(so_far, objections)
        by = "log" if fits.equivalent else "simulation"
        return replace(move, notes={**move.notes, "replay": {"by": by, "why": fits.reason}})

    async def _fits(self, so_far: Trajectory, objections: Sequence[str]) -> Comparison:
        """Say whether the log's next move fits; all the earlier ones did."""
        said = len(so_far.turns)
        if objections:
            return Comparison(False, f"the logged move cannot be used: {objections[-1]}")
        if said == 0:
            return Comparison(True, "the conversation begins")
        if said == len(self.log.turns) and self.log.stop not in CUSTOMERS_REASONS:
            return Comparison(False, "the log broke off here")
        return await self.equivalence.compare(self.log.turns[said - 1], so_far.turns[-1])

    def _logged(self, said: int) -> UserMove:
        turns = self.log.turns
        return Say(turns[said].message) if said < len(turns) else Stop(self.log.stop)


@dataclass(frozen=True, slots=True)
class _OnlyTheFirstLine:
    """Nothing is equivalent, so the log is left after its first line."""

    @property
    def identity(self) -> Mapping[str, Any]:
        return {"equivalence": "only_the_first_line"}

    async def compare(self, logged: Turn, new: Turn) -> Comparison:
        return Comparison(False, "only the first line is taken from the log")


def _log_of(logs: Mapping[str, Trajectory], scenario: Scenario) -> Trajectory:
    log = logs.get(scenario.id)
    if log is None or not log.turns:
        raise UsageError(
            f"there is no logged conversation of '{scenario.id}' with a customer's line "
            f"(given: {counted(len(logs), 'log')}). Leave the scenario out, or choose another "
            "kind of customer."
        )
    return log


def _content(log: Trajectory) -> Any:
    return [log.stop, [asdict(turn) for turn in log.turns]]
