"""An alias in MLflow's prompt registry that is moved on all prompts of a task together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..agents.errors import CotuneError, UsageError
from ..agents.redact import public
from ..agents.registered_bundle import (
    RegisteredPrompt,
    aliased_version,
    assembled,
    prompts_of,
    registered_prompts,
)
from ..agents.registry_address import RegistryAddress
from .alias_history import Histories, Steps, agreed, current, read, written
from .mlflow_access import connected, first_line, sqlite_path

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities.model_registry.prompt import Prompt as PromptEntry

HISTORY = "cotune.alias."
"""What the tag with an alias's history begins with; its name follows."""


@contextmanager
def registry_at(uri: str, *, must_exist: bool = False) -> Iterator[MlflowClient]:
    """Connect to MLflow's registry; whatever it raises becomes one message for a person.

    Args:
        uri: MLflow's tracking URI.
        must_exist: Whether a database that is not there is a mistake.

    Raises:
        UsageError: There is no such database.
        CotuneError: MLflow cannot be used.
    """
    database = sqlite_path(uri)
    if must_exist and database is not None and not database.is_file():
        raise UsageError(f"There is no MLflow database {database}. Name the right one with --uri.")
    try:
        yield connected(uri)
    except CotuneError:
        raise
    except Exception as error:
        raise CotuneError(
            f"The prompt registry of MLflow at {public(uri)} cannot be used: "
            f"{public(first_line(error))}. See that its server runs or its file can be written, "
            "and repeat the command: what was begun is finished."
        ) from error


@dataclass(frozen=True, slots=True)
class PromptAlias:
    """An alias of a task's prompts.

    Attributes:
        client: Connected to MLflow.
        address: The task and the alias.
    """

    client: MlflowClient
    address: RegistryAddress

    def prompts(self) -> list[RegisteredPrompt]:
        """Return what it points to."""
        return list(registered_prompts(self.client, self.address))

    def bundle(self) -> str | None:
        """Return the fingerprint of the bundle it points to; None when it is not a whole one."""
        try:
            return assembled(self.prompts(), self.address).fingerprint
        except CotuneError:
            return None

    def histories(self) -> dict[str, Steps]:
        """Return what it pointed to, of every prompt of the task.

        Raises:
            CotuneError: Somebody else wrote into a tag that keeps it.
        """
        return {prompt.name: self._steps(prompt) for prompt in self._entries()}

    def move(self, before: Histories, after: Mapping[str, Steps]) -> bool:
        """Move it, prompt by prompt, and return whether anything changed.

        Raises:
            CotuneError: A version that it is to point to was deleted; nothing was moved.
        """
        changed = {name: now for name, now in after.items() if now != before.get(name, ())}
        for name, now in changed.items():
            self._require(name, current(now))
        for name, now in changed.items():
            if len(now) < len(before.get(name, ())):
                self._point(name, current(now))
                self._note(name, now)
            else:
                self._note(name, now)
                self._point(name, current(now))
        return bool(changed)

    @property
    def _tag(self) -> str:
        return f"{HISTORY}{self.address.alias}"

    def _entries(self) -> Iterator[PromptEntry]:
        return prompts_of(self.client, self.address.task)

    def _steps(self, prompt: PromptEntry) -> Steps:
        text = prompt.tags.get(self._tag, "[]")
        try:
            steps = read(text)
        except ValueError as error:
            raise CotuneError(
                f"The tag '{self._tag}' of the prompt '{prompt.name}' cannot be read: {error}. "
                "Delete it in MLflow; earlier promotions can then not be rolled back."
            ) from error
        found = aliased_version(self.client, prompt.name, self.address.alias)
        return agreed(steps, None if found is None else found.version)

    def _require(self, name: str, version: int | None) -> None:
        if version is not None and self._version(name, version) is None:
            raise CotuneError(
                f"Version {version} of the prompt '{name}' was deleted in MLflow, so that "
                f"'{self.address.alias}' cannot point to it. Promote a run's prompts instead."
            )

    def _version(self, name: str, version: int) -> object | None:
        from mlflow.exceptions import MlflowException  # noqa: PLC0415  (imported already)

        try:
            return self.client.get_prompt_version(name, version)
        except MlflowException as error:
            if error.error_code == "RESOURCE_DOES_NOT_EXIST":
                return None
            raise

    def _note(self, name: str, steps: Steps) -> None:
        self.client.set_prompt_tag(name, self._tag, written(steps))

    def _point(self, name: str, version: int | None) -> None:
        if version is None:
            self.client.delete_prompt_alias(name, self.address.alias)
        else:
            self.client.set_prompt_alias(name, self.address.alias, version)
