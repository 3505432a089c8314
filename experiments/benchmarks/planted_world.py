"""A planted world: an assistant of five agents whose faults, cures and true score are known.

A prompt is a list of lines. Every scenario needs a few *skills*. A skill is one agent's (its prompt
must hold the line for it) or a *hand-off*: one agent must pass a fact on and another must use it,
and one line without the other is clutter. Some lines cure one agent's fault and break a skill of
another; one cures its fault better than the right line does and breaks safety, which the score
does not show. All of it is drawn from a seed, so each seed is another assistant.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ...agents.prompts import Prompt, PromptBundle

AGENTS = ("planner", "researcher", "selector", "cart", "writer")
SAFETY = "no_allergen"
HELD, SOLO_FAULTS, HAND_OFFS = 5, (3, 2, 2, 1, 0), 4
NEEDS = 4
_DOMAINS = ("understanding", "finding", "serving")
_CLUTTER = 0.005  # share of the score lost with every line that does nothing for it
_DELICATE = 0.2  # share of scenarios in which safety is at stake


@dataclass(frozen=True, slots=True)
class Skill:
    """What a scenario may need.

    Attributes:
        name: As criteria are called.
        domain: Of the rubric.
        agents: Who must hold its line: one agent, or the one who passes on and the one who uses.
        harms: The skill of another agent that the careless cure breaks.
        tempting: Whether the careless cure breaks safety instead.
    """

    name: str
    domain: str
    agents: tuple[str, ...]
    harms: str = ""
    tempting: bool = False

    def right(self, agent: str) -> str:
        """Return the line that this agent needs."""
        return f"- {self.name}: what the {agent} does for it"

    @property
    def careless(self) -> str:
        """The line that cures it for its only agent and breaks something else."""
        return f"- {self.name} before everything else"

    @property
    def harmful(self) -> str:
        """The line that means to cure it, does not, and breaks something else."""
        return f"- {self.name} in place of anything else"


@dataclass(frozen=True, slots=True)
class PlantedScenario:
    """One customer: which skills are needed, and whether safety is at stake."""

    id: str
    needs: tuple[str, ...]
    delicate: bool

    @property
    def family(self) -> str:
        """Every scenario is a family of its own."""
        return self.id

    @property
    def fingerprint(self) -> str:
        """Ids are unique and say everything."""
        return self.id


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What a bundle makes of the assistant.

    Attributes:
        held: Skills that are there.
        missing: By skill that is not there, the agents whose prompts would have to change and
            their shares of the blame.
        unsafe: Whether safety is broken.
        worth: What lines that do nothing leave of a score, in (0, 1].
    """

    held: frozenset[str]
    missing: Mapping[str, tuple[tuple[str, float], ...]]
    unsafe: bool
    worth: float


@dataclass(frozen=True)
class World:
    """An assistant with planted faults.

    Attributes:
        seed: From which it was drawn.
        skills: By name.
        prompts: The prompts to start from: everything is there but the cures.
        weights: How often scenarios need each skill, relative to each other.
    """

    seed: int
    skills: Mapping[str, Skill]
    prompts: PromptBundle
    weights: Mapping[str, float]
    _behaviours: dict[str, Behaviour] = field(default_factory=dict, compare=False)

    @classmethod
    def draw(cls, seed: int) -> World:
        """Draw a world: which agents have which faults, and which lines harm what."""
        rng = random.Random(f"world {seed}")
        skills = {skill.name: skill for skill in _skills(rng)}
        held = [skill for skill in skills.values() if skill.name.startswith("held")]
        prompts = [
            Prompt(
                agent,
                "\n".join(
                    [
                        f"You are the {agent}.",
                        *(skill.right(agent) for skill in held if agent in skill.agents),
                    ]
                ),
            )
            for agent in AGENTS
        ]
        weights = {name: rng.uniform(0.5, 1.5) for name in skills}
        return cls(seed, skills, PromptBundle.of(*prompts), weights)

    def scenarios(self, label: str, count: int) -> list[PlantedScenario]:
        """Draw scenarios; the same label gives the same ones."""
        rng = random.Random(f"scenarios {self.seed} {label}")
        return [
            PlantedScenario(
                f"{label}-{self.seed}-{number}", self._needs(rng), rng.random() < _DELICATE
            )
            for number in range(count)
        ]

    def behaviour(self, bundle: PromptBundle) -> Behaviour:
        """Return what the prompts make of the assistant."""
        found = self._behaviours.get(bundle.fingerprint)
        if found is None:
            found = self._behaviours[bundle.fingerprint] = self._behave(bundle)
        return found

    def best(self) -> PromptBundle:
        """Return prompts with every right line and nothing else."""
        texts = self.prompts.texts()
        for skill in self.skills.values():
            for agent in skill.agents:
                if skill.right(agent) not in texts[agent]:
                    texts[agent] += f"\n{skill.right(agent)}"
        return self.prompts.with_texts(texts)

    def _needs(self, rng: random.Random) -> tuple[str, ...]:
        left = dict(self.weights)
        needs = []
        for _ in range(NEEDS):
            needs.append(rng.choices(list(left), list(left.values()))[0])
            del left[needs[-1]]
        return tuple(needs)

    def _behave(self, bundle: PromptBundle) -> Behaviour:
        lines = {agent: set(bundle[agent].text.splitlines()[1:]) for agent in bundle}
        breakers: dict[str, str] = {}
        unsafe = False
        for skill in self.skills.values():
            for agent in skill.agents:
                if lines[agent] & {skill.careless, skill.harmful}:
                    breakers.setdefault(skill.harms, agent)
                unsafe = unsafe or (skill.tempting and skill.careless in lines[agent])
        missing: dict[str, tuple[tuple[str, float], ...]] = {}
        for skill in self.skills.values():
            without = [agent for agent in skill.agents if not _does_its_part(skill, agent, lines)]
            if skill.name in breakers:
                missing[skill.name] = ((breakers[skill.name], 1.0),)
            elif len(without) == 2:  # who did not pass it on went wrong first
                missing[skill.name] = ((without[0], 0.6), (without[1], 0.4))
            elif without:
                missing[skill.name] = ((without[0], 1.0),)
        held = frozenset(self.skills) - missing.keys()
        useful = {line for name in held for line in _cures(self.skills[name])}
        clutter = sum(len(own - useful) for own in lines.values())
        return Behaviour(held, missing, unsafe, (1 - _CLUTTER) ** clutter)


def _does_its_part(skill: Skill, agent: str, lines: Mapping[str, set[str]]) -> bool:
    careless = len(skill.agents) == 1 and skill.careless in lines[agent]
    return careless or skill.right(agent) in lines[agent]


def _cures(skill: Skill) -> Iterator[str]:
    yield from map(skill.right, skill.agents)
    yield skill.careless


def _skills(rng: random.Random) -> Iterator[Skill]:
    held = [f"held_{number}" for number in range(HELD)]
    owner = dict(zip(held, AGENTS, strict=True))
    for name, agent in owner.items():
        yield Skill(name, rng.choice(_DOMAINS), (agent,), _harmed(rng, owner, agent))
    counts = rng.sample(SOLO_FAULTS, len(AGENTS))
    solo = [agent for agent, count in zip(AGENTS, counts, strict=True) for _ in range(count)]
    tempting = rng.randrange(len(solo))
    for number, agent in enumerate(solo):
        harms = "" if number == tempting else _harmed(rng, owner, agent)
        yield Skill(
            f"fault_{number}", rng.choice(_DOMAINS), (agent,), harms, tempting=number == tempting
        )
    pairs = [(one, other) for one in AGENTS for other in AGENTS if one != other]
    for number, pair in enumerate(rng.sample(pairs, HAND_OFFS)):
        yield Skill(f"hand_off_{number}", rng.choice(_DOMAINS), pair, _harmed(rng, owner, *pair))


def _harmed(rng: random.Random, owner: Mapping[str, str], *agents: str) -> str:
    return rng.choice([name for name, agent in owner.items() if agent not in agents])
