"""Learning: what a search knows of faults, what each child was to mend, and whether it did."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ..agents.prompts import PromptBundle
from .case import Case
from .experience import Experience
from .faults import Fault, helpful_part, mended, said_of, to_mend
from .rollout import Lesson, Rollout
from .settings import Search


@dataclass(frozen=True, slots=True)
class Material:
    """What a proposal is written from.

    Attributes:
        agents: Whose prompts may change.
        lessons: What each agent can learn, failures first.
        cases: The conversations that lost points, the worst first.
        faults: What is to be mended; none where rollouts name no criteria.
    """

    agents: Sequence[str]
    lessons: Mapping[str, Sequence[Lesson]]
    cases: Sequence[Case]
    faults: Sequence[Fault] = ()


@dataclass(frozen=True, slots=True)
class Credit:
    """What is known of the edits of a child.

    Attributes:
        texts: The prompts with those that helped; with all, where none did or it is not known.
        helped: Whether faults fell; None where they are too rare to tell, or there were none.
        reason: A sentence about them.
    """

    texts: Mapping[str, str]
    helped: bool | None
    reason: str


@dataclass(slots=True)
class Learning:
    """Remembers.

    Attributes:
        settings: What is learned from, and whether credit decides.
        train: Ids of the examples that may be learned from.
        experience: What was played on them.
    """

    settings: Search
    train: frozenset[str]
    experience: Experience = field(default_factory=Experience)
    _aims: dict[str, Sequence[Fault]] = field(default_factory=dict)

    def note(self, bundle: PromptBundle, rollouts: Sequence[Rollout]) -> None:
        """Note what was played."""
        self.experience.add(bundle, [one for one in rollouts if one.example in self.train])

    def material(
        self, parent: PromptBundle, rollouts: Sequence[Rollout], agents: Sequence[str]
    ) -> Material:
        """Return what a proposal is written from: a few faults, or all that a minibatch shows.

        Args:
            parent: The prompts to change.
            rollouts: Of the parent on the minibatch.
            agents: Whose prompts may change.
        """
        if not self._by_credit or not any(rollout.applied for rollout in rollouts):
            lessons = {agent: _lessons(rollouts, agent) for agent in parent}
            return Material(agents, lessons, _worst_first(one.case for one in rollouts))
        known = self._known((parent, rollouts))
        faults = to_mend(known, parent, agents)
        criteria = {fault.criterion: fault.agents for fault in faults}
        to_blame = [agent for agent in agents if any(agent in each.agents for each in faults)]
        lessons = {
            agent: known.lessons(parent, agent, [n for n, who in criteria.items() if agent in who])
            for agent in parent
        }
        cases = _worst_first(known.cases(parent, criteria))
        return Material(to_blame or agents, lessons, cases, faults)

    def aim(self, child: PromptBundle, changed: Collection[str], faults: Sequence[Fault]) -> None:
        """Note which faults a child is to mend, by the agents that it changes."""
        mine = [fault for fault in faults if not set(changed).isdisjoint(fault.agents)]
        self._aims[child.fingerprint] = mine

    def credit(
        self,
        parent: PromptBundle,
        child: PromptBundle,
        before: Sequence[Rollout],
        after: Sequence[Rollout],
    ) -> Credit:
        """Say which edits of a child helped; where it is not known, all are kept.

        Args:
            parent: The parent's prompts.
            child: The child's.
            before: The parent's rollouts on the minibatch.
            after: The child's.
        """
        faults = self._aims.get(child.fingerprint, ())
        if not self._by_credit or not faults:
            return Credit(child.texts(), None, "")
        known = self._known((parent, before), (child, after))
        fell = mended(known, parent, child, faults)
        if not any(fell.values()):
            return Credit(child.texts(), False, said_of(fell))
        sure = all(fault.often for fault, found in fell.items() if found)
        return Credit(
            helpful_part(parent, child, fell).texts(), True if sure else None, said_of(fell)
        )

    @property
    def _by_credit(self) -> bool:
        return self.settings.acceptance == "credit"

    def _known(self, *played: tuple[PromptBundle, Sequence[Rollout]]) -> Experience:
        """Return what may be learned from: everything, or these minibatches alone."""
        everything = self.settings.evidence == "all"
        return self.experience if everything else Experience.of(*played)


def _lessons(rollouts: Sequence[Rollout], agent: str) -> list[Lesson]:
    found = [lesson for rollout in rollouts for lesson in rollout.lessons.get(agent, ())]
    return sorted(found, key=lambda lesson: not lesson.failed)


def _worst_first(cases: Iterable[Case | None]) -> list[Case]:
    found = [case for case in cases if case is not None]
    return sorted(found, key=lambda case: case.score)
