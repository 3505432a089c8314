"""The address of a bundle in MLflow's prompt registry."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .errors import UsageError

SCHEME = "mlflow:"
_FORM = re.compile(rf"{SCHEME}(?P<task>[A-Za-z0-9_.-]+)@(?P<alias>[A-Za-z0-9_-]+)")


@dataclass(frozen=True, slots=True)
class RegistryAddress:
    """Where a bundle is: `mlflow:TASK@ALIAS`.

    Attributes:
        task: As `cotune prompts list` names it.
        alias: Such as `production`.
    """

    task: str
    alias: str

    @classmethod
    def parse(cls, text: str) -> RegistryAddress:
        """Read an address.

        Raises:
            UsageError: It has another form.
        """
        found = _FORM.fullmatch(text)
        if found is None:
            raise UsageError(
                f"'{text}' is no address of prompts in MLflow; it has the form "
                f"{SCHEME}TASK@ALIAS, such as {SCHEME}grocery@production. `cotune prompts list` "
                "shows what there is."
            )
        return cls(found["task"], found["alias"])

    def __str__(self) -> str:
        return f"{SCHEME}{self.task}@{self.alias}"
