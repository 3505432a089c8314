"""The prompts that a run starts from, checked before anything is spent."""

from __future__ import annotations

from ..agents.adapters.kinds import adapter_of
from ..agents.adapters.settings import AssistantSettings
from ..agents.errors import UsageError
from ..agents.prompts import PromptBundle
from ..optimizer.guards import Unfit
from .config import RunConfig


def unfit_for(assistant: AssistantSettings, seed: PromptBundle) -> Unfit:
    """Return what says why an assistant would not be told prompts as they are written.

    Args:
        assistant: Which.
        seed: The prompts of all its agents: what changes a few comes with the others.
    """
    adapter = adapter_of(assistant)

    def unfit(prompts: PromptBundle) -> str | None:
        try:
            adapter.require(seed.with_texts(prompts.texts()), "the proposal")
        except UsageError as error:
            return str(error)
        return None

    return unfit


def load_seed(config: RunConfig, *agents: str) -> PromptBundle:
    """Return the prompts of some agents of the assistant, or of all of them when none is named.

    Raises:
        UsageError: The assistant has no such agent, a file is missing or wrong, or a prompt would
            not reach the model as it is written.
    """
    adapter = adapter_of(config.assistant)
    own = adapter.prompts
    if config.prompts is None and not own:
        raise UsageError(
            f"The assistant '{adapter.name}' comes with no prompts of its own. Name their folder, "
            "with one AGENT.md for each agent, in the configuration under 'prompts'."
        )
    source = str(config.prompts or f"those of '{adapter.name}'")
    prompts = own if config.prompts is None else PromptBundle.load(config.prompts)
    known = own or prompts
    wanted = agents or tuple(known)
    for name in wanted:
        if name not in known:
            raise UsageError(
                f"The assistant '{adapter.name}' has no agent '{name}'. It has: {', '.join(known)}."
            )
        if name not in prompts:
            raise UsageError(
                f"The prompts folder {source} has no {name}.md. It has: {', '.join(prompts)}."
            )
    chosen = prompts.only(*wanted)
    adapter.require(chosen, source)
    return chosen
