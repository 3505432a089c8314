"""Markers: signs in prompts and messages that show where these end up."""

from __future__ import annotations

from collections.abc import Mapping

from ...agents.fingerprint import fingerprint
from ...agents.prompts import PromptBundle


def marker(*parts: str) -> str:
    """Return a word that stands nowhere else, the same for the same parts."""
    return f"cotune{fingerprint(['doctor', *parts])}"


def markers(prompts: PromptBundle) -> dict[str, str]:
    """Return each agent's marker."""
    return {agent: marker("prompt", agent) for agent in prompts}


def marked(prompts: PromptBundle, signs: Mapping[str, str]) -> PromptBundle:
    """Return the prompts with their markers at the end."""
    texts = {agent: f"{prompts[agent].text}\n\n[{sign}]" for agent, sign in signs.items()}
    return prompts.with_texts(texts)
