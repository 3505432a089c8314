"""The winner in MLflow's prompt registry, one registered prompt per changed agent."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .run_record import RunRecord

if TYPE_CHECKING:
    from mlflow import MlflowClient

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_.-]+")
_MAX_VERSIONS = 1000


def registry_name(task: str, agent: str) -> str:
    """Return the name of an agent's prompt: `cotune-TASK-AGENT`, or `cotune-AGENT` if equal."""
    parts = [task] if task == agent else [task, agent]
    return _NOT_IN_NAMES.sub("-", "-".join(["cotune", *parts]))


def register_winner(
    client: MlflowClient, record: RunRecord, run_id: str, message: str
) -> dict[str, str]:
    """Register the prompts in which the winner differs from the seed, and link the run to them.

    A text that the registry has under this name keeps its version; none is added.

    Args:
        client: Connected to MLflow.
        record: The run.
        run_id: The MLflow run to link.
        message: What the new version says about itself.

    Returns:
        The prompts' URIs by agent.
    """
    seed, winner = record.seed.prompts, record.chosen.prompts
    uris = {}
    for agent in (agent for agent in winner if winner[agent] != seed[agent]):
        name = registry_name(record.task, agent)
        version = _version_of(client, name, winner[agent])
        if version is None:
            tags = _tags(record, run_id)
            version = client.register_prompt(name, winner[agent], message, tags).version
        uris[agent] = f"prompts:/{name}/{version}"
        client.link_prompt_version_to_run(run_id, uris[agent])
    return uris


def _version_of(client: MlflowClient, name: str, text: str) -> int | None:
    if client.get_prompt(name) is None:
        return None
    versions = client.search_prompt_versions(name, max_results=_MAX_VERSIONS)
    return next((one.version for one in versions if one.template == text), None)


def _tags(record: RunRecord, run_id: str) -> dict[str, str]:
    return {
        "cotune.run_id": run_id,
        "cotune.conclusion": str(record.conclusion),
        "cotune.simulated": "true" if record.simulated else "false",
        "cotune.fingerprint": record.chosen.fingerprint,
    }
