"""Making the grocery scenarios: the specification's families, filled from the shop and checked."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

from pydantic import ValidationError

from ...agents.errors import CotuneError
from ...agents.fingerprint import fingerprint
from ...agents.grocery.catalog import Catalog, load_catalog
from ..scenario import Scenario
from .draw import Values, draw
from .expected import expected_end
from .feasible import never_had, problems
from .fill import fill
from .specification import Family, Specification, Vocabulary, load_specification

_TRIES = 200


def generate(specification: Specification | None = None) -> Iterator[Scenario]:
    """Yield all scenarios of a specification, the same at every call.

    Args:
        specification: What to make; the one in this folder when None.

    Raises:
        CotuneError: A family's scenarios cannot be made; says what is wrong with the last try.
    """
    specification = specification or load_specification()
    catalog = load_catalog()
    made = 0
    for family in specification.families:
        taken = set[str]()
        for number in range(family.count):
            yield _one(family, number, made, specification.vocabulary, catalog, taken)
            made += 1


def _one(
    family: Family,
    number: int,
    made: int,
    vocabulary: Vocabulary,
    catalog: Catalog,
    taken: set[str],
) -> Scenario:
    """Return a family's next scenario, which differs from those before in what is wanted."""
    why = "a slot has no product in the drawn store, or one product was drawn twice"
    for attempt in range(_TRIES):
        rng = Random(f"{vocabulary.seed}/{family.id}/{number}/{attempt}")
        values = draw(family, number, vocabulary, catalog, rng)
        if values is None:
            continue
        scenario = _filled(family, number, made, vocabulary, values, rng)
        content = fingerprint(scenario.model_dump(include={"errands", "initial_state", "budget"}))
        why = next(problems(scenario), "it is like an earlier one" if content in taken else "")
        if not why:
            taken.add(content)
            return scenario
    raise CotuneError(
        f"The family '{family.id}' has no scenario {number + 1} after {_TRIES} tries: {why}. "
        "Widen its slots, or ask for fewer with 'count'."
    )


def _filled(
    family: Family, number: int, made: int, vocabulary: Vocabulary, values: Values, rng: Random
) -> Scenario:
    goal = family.goals[number % len(family.goals)]
    content = fill(dict(family.scenario), values, vocabulary.terms, rng)
    whole = {
        "id": f"{family.id}-{number + 1}",
        "family": family.id,
        "goal": fill(goal, values, vocabulary.terms, rng, "goal"),
        "persona": vocabulary.personas[made % len(vocabulary.personas)],
        "tags": list(family.tags),
        "seed": rng.randrange(10_000),
        **_general_facts(content, vocabulary, rng),
        **content,
    }
    scenario = _checked(family, whole)
    end = expected_end(scenario, never_had(scenario))
    return scenario.model_copy(update={"expected": {**end, **scenario.expected}})


def _general_facts(
    content: dict[str, Any], vocabulary: Vocabulary, rng: Random
) -> dict[str, list[dict[str, Any]]]:
    """Return facts that have nothing to do with the errand, for two thirds of the scenarios."""
    known = rng.choice((*vocabulary.facts, None))
    unknown = rng.choice((*vocabulary.unknown, None))
    chosen = {"facts": known, "unknown": unknown}
    return {
        name: [*content.pop(name, []), *([fact.model_dump(exclude_unset=True)] if fact else [])]
        for name, fact in chosen.items()
    }


def _checked(family: Family, data: dict[str, Any]) -> Scenario:
    try:
        return Scenario.model_validate(data)
    except ValidationError as error:
        raise CotuneError(f"The family '{family.id}' makes no scenario: {error}") from error
