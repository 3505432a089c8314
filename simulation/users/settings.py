"""Settings of simulated customers: which kind, and what it needs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from ..words import Words


class _UserSettings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    def relative_to(self, base: Path) -> Self:
        """Return the settings with the paths of files under `base`."""
        files = {name: base / value for name, value in self if isinstance(value, Path)}
        nested = {
            name: value.relative_to(base)
            for name, value in self
            if isinstance(value, _UserSettings)
        }
        return self.model_copy(update={**files, **nested})


class AgendaUserSettings(_UserSettings):
    """Customers who pursue their scenario by rules, without a model.

    Attributes:
        personas: A file of further personas.
    """

    kind: Literal["agenda"] = "agenda"
    personas: Path | None = None


class LlmUserSettings(_UserSettings):
    """Customers whose every turn is written by the model in the role `user`.

    Attributes:
        personas: A file of further personas.
        minimum_turns: Messages before the customer may leave.
    """

    kind: Literal["llm"] = "llm"
    personas: Path | None = None
    minimum_turns: int = Field(default=1, ge=1)


class TemplateUserSettings(_UserSettings):
    """Customers who name all they want in one message."""

    kind: Literal["template"] = "template"


class FixedUserSettings(_UserSettings):
    """Customers who say given messages, whatever the scenario.

    Attributes:
        messages: One per turn.
    """

    kind: Literal["fixed"] = "fixed"
    messages: tuple[Words, ...] = Field(min_length=1)


GroundedUserSettings = Annotated[AgendaUserSettings | LlmUserSettings, Field(discriminator="kind")]


class ReplayUserSettings(_UserSettings):
    """Customers who follow a log as long as the assistant does what it did there.

    Attributes:
        logs: A file of trajectories; each belongs to the scenario it names, and of
            several for one scenario the first is taken.
        then: Who takes over when the assistant does something else.
    """

    kind: Literal["replay"] = "replay"
    logs: Path
    then: GroundedUserSettings = AgendaUserSettings()


class FirstLineUserSettings(_UserSettings):
    """Customers whose first line is from a log, and the rest is simulated.

    Attributes:
        logs: A file of trajectories; each belongs to the scenario it names, and of
            several for one scenario the first is taken.
        then: Who goes on after the first line.
    """

    kind: Literal["first_line"] = "first_line"
    logs: Path
    then: GroundedUserSettings = AgendaUserSettings()


UserSettings = Annotated[
    AgendaUserSettings
    | LlmUserSettings
    | TemplateUserSettings
    | FixedUserSettings
    | ReplayUserSettings
    | FirstLineUserSettings,
    Field(discriminator="kind"),
]


def needs_a_model(settings: UserSettings) -> bool:
    """Say whether customers of this kind call the model in the role `user`."""
    match settings:
        case LlmUserSettings():
            return True
        case ReplayUserSettings() | FirstLineUserSettings():
            return needs_a_model(settings.then)
        case _:
            return False
