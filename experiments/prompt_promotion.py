"""Promotion: a run's prompts become those that an alias points to, and rollback undoes it."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ..agents.errors import CotuneError, UsageError
from ..agents.registry_address import RegistryAddress
from .alias_history import current, promoted, rolled_back
from .conclusion import sentence
from .prompt_alias import PromptAlias
from .prompt_registry import ALIAS as CANDIDATE
from .prompt_registry import register, registered, registry_name, registry_task
from .run_record import RunRecord

if TYPE_CHECKING:
    from mlflow import MlflowClient

_ALIAS = re.compile(r"[A-Za-z0-9_-]{1,255}")
_OF_MLFLOW = re.compile(r"latest|v\d+", re.IGNORECASE)


def address_of(record: RunRecord, alias: str) -> RegistryAddress:
    """Return where the winner's prompts are once they are promoted.

    Raises:
        UsageError: Nothing can be promoted to this alias.
    """
    return address(registry_task(record), alias)


def address(task: str, alias: str) -> RegistryAddress:
    """Return the address of what is promoted; see `address_of`."""
    if not _ALIAS.fullmatch(alias) or _OF_MLFLOW.fullmatch(alias):
        raise UsageError(
            f"--alias '{alias}': an alias has letters, digits, '-' and '_', and is neither "
            "'latest' nor like 'v1', which MLflow keeps for itself."
        )
    if alias == CANDIDATE:
        raise UsageError(
            f"--alias {CANDIDATE}: this alias is set by every run whose winner is better. Take "
            "another, such as production."
        )
    return RegistryAddress.parse(f"mlflow:{task}@{alias}")


def require_promotable(record: RunRecord) -> None:
    """Refuse what no test found to be better for real customers.

    Raises:
        CotuneError: It is a simulation, was not found better, or is less safe.
    """
    if not record.deployable:
        raise CotuneError(
            f"The prompts of {record.name} are not promoted: {sentence(record)} With --force they "
            "are promoted all the same."
        )
    if record.simulated:
        raise CotuneError(
            f"The prompts of {record.name} are not promoted: a scripted model answered in place "
            "of a language model, which says nothing of a real assistant. With --force they are "
            "promoted all the same."
        )


def is_promoted(client: MlflowClient, record: RunRecord, where: RegistryAddress) -> bool:
    """Whether the alias points to the winner's prompts, to all of them and to nothing else."""
    versions = registered(client, record)
    wanted = {registry_name(record, agent): number for agent, number in versions.items()}
    found = {each.name: each.version for each in PromptAlias(client, where).prompts()}
    return len(versions) == len(record.chosen.prompts) and found == wanted


def promote(client: MlflowClient, record: RunRecord, where: RegistryAddress) -> None:
    """Register the winner's prompts, then move the alias on all of them.

    Interrupted, it is finished by doing it again. Prompts of agents that the winner does not have
    lose the alias.

    Raises:
        CotuneError: The registry has another task's prompt under the same name.
    """
    alias = PromptAlias(client, where)
    versions = {
        registry_name(record, agent): version
        for agent, version in register(client, record, sentence(record)).items()
    }
    before, is_whole = alias.histories(), alias.bundle() is not None
    now = datetime.now(UTC).isoformat(timespec="seconds")
    alias.move(before, promoted(before, versions, now, is_whole=is_whole))


def roll_back(client: MlflowClient, where: RegistryAddress) -> None:
    """Move the alias back to what it pointed to before the last promotion.

    Raises:
        UsageError: Nothing was promoted.
        CotuneError: Before the last promotion, the alias pointed to nothing.
    """
    alias = PromptAlias(client, where)
    before = alias.histories()
    after = rolled_back(before)
    if after == before:
        raise UsageError(
            f"{where}: nothing was promoted there, so that there is nothing to roll back. "
            "`cotune prompts list` shows what there is."
        )
    if all(current(steps) is None for steps in after.values()):
        raise CotuneError(
            f"{where}: before the last promotion the alias pointed to nothing, so that there is "
            "nothing to roll back to. Promote another run, or delete the alias in MLflow."
        )
    alias.move(before, after)
