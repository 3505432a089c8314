"""A simulated reflection model: it writes a right line for a fault it is shown, or a wrong one.

It is the same for every optimizer. It knows no more than it is shown: faults that are blamed on
the agent whose prompt it is to write, at most two of them, the most frequent first. Shown several
agents at once, it writes both sides of a hand-off from one idea, right or wrong together.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ...agents.fingerprint import fingerprint
from ...optimizer.proposers.proposer import Assignment, Draft
from .planted_world import Skill, World

_RIGHT = 0.5
_ATTENTION = 2
_REMARKS = 1000
_CARELESS, _HARMFUL = 0.3, 0.2  # of its wrong lines; the rest are remarks that do nothing


@dataclass(frozen=True, slots=True)
class Edit:
    """Lines to add to and to drop from one agent's prompt."""

    agent: str
    added: str = ""
    dropped: frozenset[str] = frozenset()

    def apply(self, text: str) -> str:
        """Return the text so changed; a line it has already is not added again."""
        lines = [line for line in text.splitlines() if line not in self.dropped]
        new = [self.added] if self.added and self.added not in lines else []
        return "\n".join([*lines, *new])


@dataclass
class SimulatedWriter:
    """Writes prompts from faults.

    Attributes:
        world: The world, whose right lines it finds half the time.
        joint: Whether it sees all agents to change at once.
    """

    world: World
    joint: bool
    _asked: Counter[str] = field(default_factory=Counter)

    name = "simulated"
    quotes_train = False

    async def propose(self, assignment: Assignment) -> Draft:
        """Write new texts; see `Proposer.propose`."""
        texts = {agent: prompt.text for agent, prompt in assignment.prompts.items()}
        faults = {
            agent: [lesson.feedback for lesson in assignment.lessons.get(agent, ())]
            for agent in texts
        }
        tried = _added(assignment)
        if self.joint:
            return Draft(self.write(texts, faults, tried))
        alone = [self.write({agent: text}, faults, tried) for agent, text in texts.items()]
        return Draft({agent: text for one in alone for agent, text in one.items()})

    def write(
        self,
        texts: Mapping[str, str],
        faults: Mapping[str, Sequence[str]],
        tried: frozenset[str] = frozenset(),
    ) -> dict[str, str]:
        """Return the texts that it changes.

        Args:
            texts: The prompts that it may change, by agent.
            faults: Names of skills that were missed, by the agent that is blamed, one per time.
            tried: Lines that were turned down before; it thinks again when it comes upon one.
        """
        content = fingerprint([self.world.seed, texts, faults, tried])
        rng = random.Random(f"{content} {self._asked[content]}")
        self._asked[content] += 1
        changed = dict(texts)
        for name, agents in _to_mend(texts, faults):
            skill = self.world.skills[name]
            edits = self._edits(skill, agents, texts, rng)
            if any(edit.added in tried for edit in edits):
                edits = self._edits(skill, agents, texts, rng)
            for edit in edits:
                changed[edit.agent] = edit.apply(changed[edit.agent])
        return {agent: text for agent, text in changed.items() if text != texts[agent]}

    def _edits(
        self, skill: Skill, blamed: Sequence[str], texts: Mapping[str, str], rng: random.Random
    ) -> list[Edit]:
        """Return edits for one fault: what would cure it, or what does not."""
        if rng.random() < _RIGHT and (cure := list(self._cure(skill, blamed, texts))):
            return cure
        return [Edit(agent, self._wrong_line(skill, agent, rng)) for agent in blamed]

    def _cure(
        self, skill: Skill, blamed: Sequence[str], texts: Mapping[str, str]
    ) -> Iterator[Edit]:
        """Yield what would cure it; nothing when the blamed agents have no part in it."""
        for agent in blamed:
            lines = set(texts[agent].splitlines())
            breaking = [
                other
                for other in self.world.skills.values()
                if other.harms == skill.name
                and agent in other.agents
                and lines & {other.careless, other.harmful}
            ]
            for other in breaking:
                instead = other.right(agent) if other.careless in lines else ""
                yield Edit(agent, instead, frozenset((other.careless, other.harmful)))
            if not breaking and agent in skill.agents and skill.right(agent) not in lines:
                yield Edit(agent, skill.right(agent))

    def _wrong_line(self, skill: Skill, agent: str, rng: random.Random) -> str:
        kind = rng.random()
        if agent in skill.agents and kind < _CARELESS:
            return skill.careless if len(skill.agents) == 1 else skill.harmful
        if agent in skill.agents and kind < _CARELESS + _HARMFUL:
            return skill.harmful
        return f"- remark {rng.randrange(_REMARKS)}"


def _to_mend(
    texts: Mapping[str, str], faults: Mapping[str, Sequence[str]]
) -> Iterator[tuple[str, list[str]]]:
    """Yield the faults to think about, and of the prompts at hand those that are blamed."""
    chosen: dict[str, list[str]] = {}
    for agent in texts:
        counts = Counter(faults.get(agent, ()))
        for name in sorted(counts, key=lambda each: (-counts[each], each))[:_ATTENTION]:
            chosen.setdefault(name, [])
    for name in chosen:
        yield name, [agent for agent in texts if name in faults.get(agent, ())]


def _added(assignment: Assignment) -> frozenset[str]:
    """Return the lines that proposals added which were turned down."""
    return frozenset(_new_lines(assignment))


def _new_lines(assignment: Assignment) -> Iterable[str]:
    for rejected in assignment.rejected:
        for agent, text in rejected.texts.items():
            before = assignment.bundle[agent].text.splitlines()
            yield from (line for line in text.splitlines() if line not in before)
