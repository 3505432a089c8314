"""Prompts as the saved state of a DSPy program whose predictors are named after the agents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import dspy
from dspy.utils.saving import get_dependency_versions

from .prompts import Prompt, PromptBundle


def save_state(prompts: PromptBundle, path: Path) -> None:
    """Write what `program.load(path)` reads, of a program with a predictor for each agent.

    Of a predictor, the instructions alone are replaced: by the prompt as a whole, with the worked
    examples it may end with. Its fields and demos stay, because the file says nothing of them.

    Args:
        prompts: By the predictors' names.
        path: Of the file, which ends with `.json`.
    """
    state = {agent: _state(prompt) for agent, prompt in prompts.items()}
    metadata = {"dependency_versions": get_dependency_versions()}
    content = json.dumps({**state, "metadata": metadata}, indent=2, ensure_ascii=False)
    path.write_text(content + "\n", encoding="utf-8")


def _state(prompt: Prompt) -> dict[str, Any]:
    state = dspy.Predict("received -> returned").dump_state()
    del state["demos"]
    return {**state, "signature": {"instructions": prompt.text, "fields": []}}
