"""What the aliases of registered prompts point to, in rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ..agents.errors import CotuneError
from ..agents.registered_bundle import TASK, assembled, found_prompts
from ..agents.registry_address import RegistryAddress
from .prompt_alias import HISTORY, PromptAlias
from .prompt_registry import ALIAS as CANDIDATE

if TYPE_CHECKING:
    from mlflow import MlflowClient


@dataclass(frozen=True, slots=True)
class ListedAlias:
    """What an alias of a task points to.

    Attributes:
        address: For `load_bundle`.
        task: As the registry calls it.
        alias: Its name.
        bundle: The bundle's fingerprint; None when it is not one whole bundle.
        run: The run that made the prompts.
        conclusion: Of that run's test.
        at: When the alias was moved there, in ISO 8601; of `candidate` when the prompts were
            registered.
        problem: Why it cannot be loaded; empty when it can.
        versions: By the names of the prompts.
    """

    address: str
    task: str
    alias: str
    bundle: str | None
    run: str
    conclusion: str
    at: str
    problem: str
    versions: dict[str, int]


def listed(client: MlflowClient) -> Iterator[ListedAlias]:
    """Yield what cotune's aliases point to, task by task."""
    aliases: dict[str, set[str]] = defaultdict(lambda: {CANDIDATE})
    for prompt in found_prompts(client, "name LIKE 'cotune-%'"):
        if TASK in prompt.tags:
            known = (tag.removeprefix(HISTORY) for tag in prompt.tags if tag.startswith(HISTORY))
            aliases[prompt.tags[TASK]].update(known)
    for task, names in sorted(aliases.items()):
        for name in sorted(names):
            row = _row(PromptAlias(client, RegistryAddress(task, name)))
            if row is not None:
                yield row


def _row(alias: PromptAlias) -> ListedAlias | None:
    prompts, where = alias.prompts(), alias.address
    if not prompts:
        return None
    try:
        bundle, problem = assembled(prompts, where).fingerprint, ""
    except CotuneError as error:
        bundle, problem = None, str(error)
    newest = max(prompts, key=lambda each: each.created)
    tags = newest.tags if bundle else {}
    return ListedAlias(
        address=str(where),
        task=where.task,
        alias=where.alias,
        bundle=bundle,
        run=tags.get("cotune.run", ""),
        conclusion=tags.get("cotune.conclusion", ""),
        at=_moved(alias) if where.alias != CANDIDATE else _iso(newest.created),
        problem=problem,
        versions={each.name: each.version for each in prompts},
    )


def _moved(alias: PromptAlias) -> str:
    return max((steps[-1].at for steps in alias.histories().values() if steps), default="")


def _iso(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds // 1000, UTC).isoformat()
