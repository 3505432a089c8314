"""The prompts that a run starts from, checked before anything is spent."""

from __future__ import annotations

from ..agents.errors import UsageError
from ..agents.grocery.assistant import PROMPTS
from ..agents.grocery.signatures import AGENTS
from ..agents.prompts import PromptBundle
from .config import RunConfig


def load_seed(config: RunConfig, *agents: str) -> PromptBundle:
    """Return the prompts of some agents of the assistant, or of all of them when none is named.

    Raises:
        UsageError: The assistant has no such agent, a file is missing or wrong, or a prompt has a
            placeholder for which the assistant has no value.
    """
    folder = config.prompts or PROMPTS
    prompts = PromptBundle.load(folder)
    wanted = agents or tuple(AGENTS)
    for name in wanted:
        if name not in AGENTS:
            raise UsageError(
                f"The assistant 'grocery' has no agent '{name}'. It has: {', '.join(AGENTS)}."
            )
        if name not in prompts:
            raise UsageError(
                f"The prompts folder {folder} has no {name}.md. It has: {', '.join(prompts)}."
            )
    chosen = prompts.only(*wanted)
    require_known_placeholders(chosen, str(folder))
    return chosen


def require_known_placeholders(prompts: PromptBundle, source: str) -> None:
    """Refuse placeholders for which the assistant has no value.

    Args:
        prompts: The prompts of agents that the assistant has.
        source: The folder they were read from.

    Raises:
        UsageError: There is one.
    """
    for name, prompt in prompts.items():
        known = list(AGENTS[name].signature.input_fields)
        unknown = sorted(prompt.placeholders - set(known))
        if unknown:
            raise UsageError(
                f"The prompt {source}/{name}.md has the placeholder '{{{{ {unknown[0]} }}}}', for "
                "which the assistant has no value. It can name the agent's inputs: "
                f"{', '.join(known)}."
            )
