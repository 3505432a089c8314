"""A bundle in MLflow's prompt registry: a prompt for each agent, and one alias on all of them.

An alias is moved prompt by prompt, so it may be seen half-way. Every version says in a tag which
bundle it belongs to, and what does not make exactly that bundle is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING

from .errors import CotuneError, UsageError
from .mlflow_address import (
    first_line,
    is_remote,
    require_answering,
    require_mlflows,
    sqlite_path,
)
from .prompts import Prompt, PromptBundle
from .redact import public
from .registry_address import RegistryAddress

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities.model_registry import PromptVersion
    from mlflow.entities.model_registry.prompt import Prompt as PromptEntry

TASK, AGENT, BUNDLE = "cotune.task", "cotune.agent", "cotune.bundle"
"""Tags: of a prompt its task and its agent, of a version its bundle."""

_ABSENT = ("RESOURCE_DOES_NOT_EXIST", "INVALID_PARAMETER_VALUE")
_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class RegisteredPrompt:
    """The version of an agent's prompt to which an alias points.

    Attributes:
        name: Of the prompt in the registry.
        agent: Whose it is.
        version: Its number.
        text: What the model is told.
        tags: Of the version.
        created: When it was registered, in milliseconds since 1970.
    """

    name: str
    agent: str
    version: int
    text: str
    tags: Mapping[str, str]
    created: int = 0

    @property
    def bundle(self) -> str:
        """Fingerprint of the bundle it belongs to; empty where the version does not say."""
        return self.tags.get(BUNDLE, "")


def load_registered(address: RegistryAddress, tracking_uri: str | None = None) -> PromptBundle:
    """Load a bundle from MLflow's prompt registry.

    Args:
        address: Its task and alias.
        tracking_uri: Of MLflow; what MLflow takes by itself when None: the environment variable
            `MLFLOW_TRACKING_URI`, or its default.

    Raises:
        UsageError: There is no such database, task or alias, or MLflow is not installed.
        CotuneError: MLflow cannot be used, or the prompts do not make a bundle.
    """
    mlflow = _mlflow()
    uri = tracking_uri or mlflow.get_tracking_uri()
    database = sqlite_path(uri)
    if database is not None and not database.is_file():
        raise UsageError(
            f"{address}: there is no MLflow database {database}. Name the right one as "
            "tracking_uri, or in MLFLOW_TRACKING_URI."
        )
    try:
        if database is not None:
            require_mlflows(database)
        elif is_remote(uri):
            require_answering(uri)
        found = list(registered_prompts(mlflow.MlflowClient(tracking_uri=uri), address))
    except Exception as error:  # whatever MLflow's store raises, a person gets one message
        raise CotuneError(
            f"{address}: MLflow at {public(uri)} cannot be used: {public(first_line(error))}."
        ) from error
    return assembled(found, address)


def _mlflow() -> ModuleType:
    """Import MLflow, which takes seconds; other sources do without it."""
    try:
        import mlflow  # noqa: PLC0415
    except ImportError as error:
        raise UsageError(
            "Prompts in MLflow's registry need the package mlflow: pip install mlflow."
        ) from error
    return mlflow


def registered_prompts(
    client: MlflowClient, address: RegistryAddress
) -> Iterator[RegisteredPrompt]:
    """Yield what the alias of a task points to, agent by agent."""
    for prompt in prompts_of(client, address.task):
        version = aliased_version(client, prompt.name, address.alias)
        if version is not None:
            yield RegisteredPrompt(
                name=prompt.name,
                agent=prompt.tags[AGENT],
                version=version.version,
                text=str(version.template),
                tags=version.tags,
                created=version.creation_timestamp or 0,
            )


def prompts_of(client: MlflowClient, task: str) -> Iterator[PromptEntry]:
    """Yield the registered prompts of a task."""
    yield from found_prompts(client, f"tags.`{TASK}` = '{task}'")


def found_prompts(client: MlflowClient, condition: str) -> Iterator[PromptEntry]:
    """Yield registered prompts by a condition in MLflow's language."""
    token = None
    while True:
        page = client.search_prompts(condition, max_results=_AT_ONCE, page_token=token)
        yield from page
        token = page.token
        if not token:
            return


def aliased_version(client: MlflowClient, name: str, alias: str) -> PromptVersion | None:
    """Return the version of a prompt to which an alias points; None when it has no such alias."""
    from mlflow.exceptions import MlflowException  # noqa: PLC0415  (imported already)

    try:
        return client.get_prompt_version_by_alias(name, alias)
    except MlflowException as error:
        if error.error_code in _ABSENT:
            return None
        raise


def assembled(found: Sequence[RegisteredPrompt], address: RegistryAddress) -> PromptBundle:
    """Return the bundle that an alias points to.

    Raises:
        UsageError: The alias points to nothing.
        CotuneError: What it points to is not exactly one bundle.
    """
    if not found:
        raise UsageError(
            f"{address}: no prompt of the task '{address.task}' has the alias "
            f"'{address.alias}'. `cotune prompts list` shows what there is."
        )
    bundle = PromptBundle.of(*(Prompt(each.agent, each.text) for each in found))
    if {each.bundle for each in found} == {bundle.fingerprint}:
        return bundle
    parts = ", ".join(f"{each.agent} of {each.bundle or 'none'}" for each in found)
    raise CotuneError(
        f"{address} is not one whole bundle: {parts}. A promotion goes on just now, was "
        "interrupted, or an alias was moved by hand. `cotune prompts promote` again finishes it, "
        f"`cotune prompts rollback {address.task} --alias {address.alias}` takes it back."
    )
