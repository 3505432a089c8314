"""Personas: how a customer talks and how patient they are; what they want is the scenario's."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, model_validator

from ..agents.errors import UsageError
from ..agents.yaml_file import load_yaml

PERSONAS = Path(__file__).with_name("personas.yaml")


class Reveal(StrEnum):
    """When a customer says what matters to them; a question about it is answered at any time."""

    ALL_AT_ONCE = "all_at_once"
    WHEN_ASKED = "when_asked"
    WHEN_WRONG = "when_wrong"


class Verbosity(StrEnum):
    """How much is said beside the matter itself."""

    SHORT = "short"
    NORMAL = "normal"
    CHATTY = "chatty"


class Persona(BaseModel):
    """One manner of being a customer.

    Attributes:
        name: How scenarios call it.
        description: The manner in words, addressed to whoever plays it.
        patience: Turns in a row without progress after which the customer leaves.
        verbosity: Which set of phrases is drawn from.
        reveals: When terms are said: with the first request, from the second on or when asked,
            or only after something wrong was offered.
        saves: Whether the cheapest of what fits is taken.
        hesitates: How often a harmless question is asked before something is taken.
        phrases: Phrases that replace the verbosity's, by what they are for.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1)
    description: str = Field(min_length=1)
    patience: int = Field(default=4, ge=2, le=20)
    verbosity: Verbosity = Verbosity.NORMAL
    reveals: Reveal = Reveal.ALL_AT_ONCE
    saves: bool = False
    hesitates: int = Field(default=0, ge=0, le=5)
    phrases: dict[str, tuple[str, ...]] = Field(default_factory=dict)


class _PersonaFile(BaseModel):
    model_config = ConfigDict(extra="forbid")

    personas: tuple[Persona, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _names_differ(self) -> _PersonaFile:
        names = [persona.name for persona in self.personas]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"the persona '{name}' is given twice")
        return self


def load_personas(own: Path | None = None) -> dict[str, Persona]:
    """Return the personas by name.

    Args:
        own: A file of further personas; one with the name of a built-in persona replaces it.

    Raises:
        UsageError: The file cannot be used; names the line and field.
    """
    paths = [PERSONAS] if own is None else [PERSONAS, own]
    files = [load_yaml(_PersonaFile, path, "personas file") for path in paths]
    return {persona.name: persona for file in files for persona in file.personas}


def persona_called(name: str, personas: Mapping[str, Persona]) -> Persona:
    """Return a persona.

    Raises:
        UsageError: There is none with this name; names those there are.
    """
    if name not in personas:
        raise UsageError(
            f"There is no persona '{name}'; known: {', '.join(sorted(personas))}. "
            "Use one of these, or add it to a personas file of your own."
        )
    return personas[name]
