"""The specification of the grocery scenarios: a vocabulary, and families with gaps to be filled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, PositiveInt

from ...agents.data_file import read_yaml_list
from ...agents.grocery.diet import Diet
from ...agents.yaml_file import load_yaml
from ..scenario import Fact
from ..term import Operator

FOLDER = Path(__file__).parent

_Range = Annotated[tuple[PositiveInt, PositiveInt], "from, to"]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class TermKind(_Model):
    """How a term is written that a family states as `kind: value`.

    Attributes:
        field: The item's field.
        operator: How it is compared.
        say: The customer's words, with `{value}`.
    """

    field: str
    operator: Operator
    say: str


class Vocabulary(_Model):
    """What all families share.

    Attributes:
        seed: From which everything is drawn.
        personas: Names of personas, taken in turn.
        numbers: Number words from one.
        plurals: Plurals of units that do not just end in s.
        units: How each product is counted and called: unit, then one or more names.
        terms: Kinds of terms.
        pools: Lists of products by name.
        facts: What some customers know beside their errands.
        unknown: What some customers do not know.
    """

    seed: int
    personas: tuple[str, ...] = Field(min_length=1)
    numbers: tuple[str, ...] = Field(min_length=1)
    plurals: Mapping[str, str]
    units: Mapping[str, tuple[str, ...]]
    terms: Mapping[str, TermKind]
    pools: Mapping[str, tuple[str, ...]]
    facts: tuple[Fact, ...] = Field(min_length=1)
    unknown: tuple[Fact, ...] = Field(min_length=1)


class Slot(_Model):
    """A product that is drawn from the shop for each scenario.

    Attributes:
        product: Nouns to draw from, or the name of a pool.
        quantity: From which to which number of packs.
        then: The same for a changed number of packs, which is drawn to differ.
        diet: Labels one of which the product carries; any product will do when empty.
        brand: Brands one of which it has; any when empty.
    """

    product: str | tuple[str, ...]
    quantity: _Range = (1, 1)
    then: _Range | None = None
    diet: tuple[Diet, ...] = ()
    brand: tuple[str, ...] = ()


class Family(_Model):
    """Scenarios of one shape.

    Attributes:
        id: The family's name.
        tags: Tags of its scenarios.
        count: How many to make.
        goals: Ways to put the goal, taken in turn.
        stores: Ids of the stores where it plays, taken in turn; any store when empty.
        customers: Ids of customers, taken in turn.
        slots: Products by name.
        choices: Other values by name, taken in turn.
        scenario: The scenario's fields with gaps such as `{a.brand}`; see `fill.py`.
    """

    id: str = Field(min_length=1)
    tags: tuple[str, ...] = Field(min_length=1)
    count: PositiveInt = 4
    goals: tuple[str, ...] = Field(min_length=1)
    stores: tuple[str, ...] = ()
    customers: tuple[str, ...] = ()
    slots: Mapping[str, Slot] = {}
    choices: Mapping[str, tuple[Any, ...]] = {}
    scenario: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Specification:
    """Everything the scenarios are made from."""

    vocabulary: Vocabulary
    families: tuple[Family, ...]


def load_specification(folder: Path = FOLDER) -> Specification:
    """Read `specification.yaml` and the families of `families/*.yaml`.

    Raises:
        UsageError: A file is missing or malformed; names the file, line and field.
    """
    vocabulary = load_yaml(Vocabulary, folder / "specification.yaml", "specification")
    records = (
        record for path in sorted(folder.glob("families/*.yaml")) for record in read_yaml_list(path)
    )
    return Specification(vocabulary, tuple(record.parse(Family) for record in records))
