"""The winner in MLflow's prompt registry: a prompt per agent, one id for the bundle."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from .run_record import RunRecord

if TYPE_CHECKING:
    from mlflow import MlflowClient

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_.-]+")
_MAX_VERSIONS = 1000
ALIAS = "candidate"


def registry_name(record: RunRecord, agent: str) -> str:
    """Return the name of an agent's prompt: `cotune-TASK-AGENT`, or `cotune-AGENT` if equal.

    Simulations have names of their own, `cotune-simulation-…`.
    """
    maker = "cotune-simulation" if record.simulated else "cotune"
    parts = [agent] if record.task == agent else [record.task, agent]
    return _NOT_IN_NAMES.sub("-", "-".join([maker, *parts]))


def register_winner(
    client: MlflowClient, record: RunRecord, run_id: str, message: str
) -> dict[str, str]:
    """Register the winner's prompts, unchanged ones too, and link the run to them.

    Nothing is registered unless the test found the winner better and no less safe. A text that
    the registry has under its name keeps its version and gets the tags of this run. All versions
    of one bundle have its id in the tag `cotune.bundle`, and the alias `candidate`.

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
    tags = _tags(record, run_id)
    uris = {}
    for agent, text in record.chosen.prompts.items():
        name = registry_name(record, agent)
        version = _version_of(client, name, text)
        if version is None:
            version = client.register_prompt(name, text, message, tags).version
        else:
            _tag(client, name, version, tags)
        client.set_prompt_alias(name, ALIAS, version)
        uris[agent] = f"prompts:/{name}/{version}"
        client.link_prompt_version_to_run(run_id, uris[agent])
    return uris


def _version_of(client: MlflowClient, name: str, text: str) -> int | None:
    if client.get_prompt(name) is None:
        return None
    versions = client.search_prompt_versions(name, max_results=_MAX_VERSIONS)
    return next((one.version for one in versions if one.template == text), None)


def _tag(client: MlflowClient, name: str, version: int, tags: Mapping[str, str]) -> None:
    for key, value in tags.items():
        client.set_prompt_version_tag(name, version, key, value)


def _tags(record: RunRecord, run_id: str) -> dict[str, str]:
    return {
        "cotune.run_id": run_id,
        "cotune.conclusion": str(record.conclusion),
        "cotune.simulated": "true" if record.simulated else "false",
        "cotune.bundle": record.chosen.fingerprint,
    }
