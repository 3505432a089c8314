"""The winner in MLflow's prompt registry: a prompt per agent, one id for the bundle."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..agents.errors import CotuneError
from ..agents.registered_bundle import AGENT, BUNDLE, TASK
from .run_record import RunRecord

if TYPE_CHECKING:
    from mlflow import MlflowClient

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_.-]+")
_MAX_VERSIONS = 1000
ALIAS = "candidate"
"""What tracking sets; nobody promotes to it."""


def registry_task(record: RunRecord) -> str:
    """Return what the registry calls the task; simulations have names of their own."""
    task = f"simulation-{record.task}" if record.simulated else record.task
    return _NOT_IN_NAMES.sub("-", task)


def registry_name(record: RunRecord, agent: str) -> str:
    """Return the name of an agent's prompt: `cotune-TASK-AGENT`, or `cotune-AGENT` if equal.

    Simulations have names of their own, `cotune-simulation-…`.
    """
    parts = ["cotune", registry_task(record), *([] if record.task == agent else [agent])]
    return _NOT_IN_NAMES.sub("-", "-".join(parts))


def register_winner(
    client: MlflowClient, record: RunRecord, run_id: str, message: str
) -> dict[str, str]:
    """Register the winner's prompts, unchanged ones too, and link the run to them.

    Nothing is registered unless the test found the winner better and no less safe. Versions that
    the registry has of the same bundle get the tags of this run, and all get the alias
    `candidate`.

    Args:
        client: Connected to MLflow.
        record: The run.
        run_id: The MLflow run to link.
        message: What a new version says about itself.

    Returns:
        The prompts' URIs by agent.
    """
    if not record.deployable:
        return {}
    uris = {}
    for agent, version in register(client, record, message).items():
        name = registry_name(record, agent)
        _tag(client, name, version, {**_tags(record), "cotune.run_id": run_id})
        client.set_prompt_alias(name, ALIAS, version)
        uris[agent] = f"prompts:/{name}/{version}"
        client.link_prompt_version_to_run(run_id, uris[agent])
    return uris


def register(client: MlflowClient, record: RunRecord, message: str) -> dict[str, int]:
    """Register the winner's prompts; no alias is moved.

    Each bundle has versions of its own, whose tag `cotune.bundle` is its id: a version that two
    bundles shared could not say to which it belongs. Registering again changes nothing.

    Args:
        client: Connected to MLflow.
        record: The run.
        message: What a new version says about itself.

    Returns:
        The versions' numbers by agent.

    Raises:
        CotuneError: The registry has another task's prompt under the same name.
    """
    task, tags = registry_task(record), _tags(record)
    versions = registered(client, record)
    for agent, text in record.chosen.prompts.items():
        name, place = registry_name(record, agent), {TASK: task, AGENT: agent}
        if agent not in versions:
            # A mapping of its own: MLflow adds to the one it is given.
            version = client.register_prompt(name, text, message, {**tags, **place}).version
            versions[agent] = version
        for key, value in place.items():
            client.set_prompt_tag(name, key, value)
    return versions


def registered(client: MlflowClient, record: RunRecord) -> dict[str, int]:
    """Return the versions that the registry has of the winner's prompts, by agent.

    Raises:
        CotuneError: The registry has another task's prompt under the same name.
    """
    found = {
        agent: _version_of(client, record, agent, text)
        for agent, text in record.chosen.prompts.items()
    }
    return {agent: version for agent, version in found.items() if version is not None}


def _version_of(client: MlflowClient, record: RunRecord, agent: str, text: str) -> int | None:
    name, place = registry_name(record, agent), (registry_task(record), agent)
    prompt = client.get_prompt(name)
    if prompt is None:
        return None
    other = tuple(
        prompt.tags.get(key, mine) for key, mine in zip((TASK, AGENT), place, strict=True)
    )
    if other != place:
        raise CotuneError(
            f"MLflow has a prompt '{name}' already, of the task '{other[0]}' and its agent "
            f"'{other[1]}'. Rename one of the assistants, or use another MLflow."
        )
    bundle = record.chosen.fingerprint
    versions = client.search_prompt_versions(name, max_results=_MAX_VERSIONS)
    return next(
        (
            one.version
            for one in versions
            if one.template == text and one.tags.get(BUNDLE) == bundle
        ),
        None,
    )


def _tag(client: MlflowClient, name: str, version: int, tags: Mapping[str, str]) -> None:
    for key, value in tags.items():
        client.set_prompt_version_tag(name, version, key, value)


def _tags(record: RunRecord) -> dict[str, str]:
    return {
        "cotune.run": record.name,
        "cotune.conclusion": str(record.conclusion),
        "cotune.simulated": "true" if record.simulated else "false",
        BUNDLE: record.chosen.fingerprint,
    }
