"""Settings of the assistant under test: the reference assistant, or a team's own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

GROCERY = "grocery"
_PATH = r"^[A-Za-z_][\w.]*:[A-Za-z_][\w.]*$"


class _AssistantSettings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    def relative_to(self, base: Path) -> Self:
        """Return the settings with folders under `base`."""
        return self


class GrocerySettings(_AssistantSettings):
    """The grocery assistant that comes with cotune."""

    kind: Literal["grocery"] = GROCERY

    @property
    def name(self) -> str:
        """What people call it."""
        return GROCERY


class ImportedSettings(_AssistantSettings):
    """An assistant in Python, found by its import path.

    Attributes:
        path: `module:attribute`.
        folder: From where the module is imported; the configuration's own by default.
    """

    path: str = Field(pattern=_PATH)
    folder: Path = Path()

    @property
    def name(self) -> str:
        """What people call it: its module."""
        return self.path.partition(":")[0]

    def relative_to(self, base: Path) -> Self:
        """Return the settings with the folder under `base`."""
        return self.model_copy(update={"folder": base / self.folder})


class FunctionSettings(ImportedSettings):
    """A function `reply(message, prompts, session)`; its prompts come from `prompts`."""

    kind: Literal["function"]


def _named(value: Any) -> Any:
    """Allow the name alone for the assistant that needs no settings."""
    return {"kind": GROCERY} if value == GROCERY else value


AssistantSettings = Annotated[
    Annotated[GrocerySettings | FunctionSettings, Field(discriminator="kind")],
    BeforeValidator(_named),
]
