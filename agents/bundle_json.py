"""A prompt bundle in one JSON file, with what is known of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .errors import UsageError
from .prompts import Prompt, PromptBundle, require_name
from .text_file import read_text

FORMAT = "cotune-prompts/1"


def bundle_json(bundle: PromptBundle, about: Mapping[str, Any]) -> str:
    """Write a bundle as JSON.

    Args:
        bundle: The prompts.
        about: What else the file says, such as the run they come from; JSON values.
    """
    prompts = {
        agent: {"description": prompt.description, "text": prompt.text}
        for agent, prompt in bundle.items()
    }
    content = {"format": FORMAT, **about, "bundle": bundle.fingerprint, "prompts": prompts}
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def read_bundle_json(path: Path) -> PromptBundle:
    """Read what `bundle_json` wrote.

    Raises:
        UsageError: It is another file, or its prompts are not those that were written.
    """
    try:
        content = json.loads(read_text(path, "file of prompts"))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"The file of prompts {path} is not valid JSON: {error}.") from error
    found = content.get("format") if isinstance(content, dict) else None
    if found != FORMAT:
        raise UsageError(
            f"{path} is no file of prompts: its 'format' must be '{FORMAT}', found {found!r:.80}. "
            "`cotune prompts export RUN --to json` writes one."
        )
    bundle = _bundle(path, content.get("prompts"))
    known = content.get("bundle")
    if known not in (None, bundle.fingerprint):
        raise UsageError(
            f"{path}: the prompts were changed after they were written: 'bundle' says "
            f"{known!r:.80}, they are '{bundle.fingerprint}'. Export them again; if the change is "
            "meant, take the field 'bundle' out."
        )
    return bundle


def _bundle(path: Path, prompts: Any) -> PromptBundle:
    if not isinstance(prompts, dict) or not prompts:
        raise UsageError(f"{path}: 'prompts' must hold a prompt for each agent, by its name.")
    return PromptBundle.of(*(_prompt(path, agent, said) for agent, said in prompts.items()))


def _prompt(path: Path, agent: str, said: Any) -> Prompt:
    require_name(agent, path)
    match said:
        case {"text": str(text), **others} if text.strip() and _is_whole(text):
            description = others.get("description", "")
            if isinstance(description, str):
                return Prompt(agent, text, description)
    raise UsageError(
        f"{path}: 'prompts.{agent}' must be {{'text': …, 'description': …}} with a text that is "
        f"not empty and has no half of an emoji, found {said!r:.80}."
    )


def _is_whole(text: str) -> bool:
    """Whether a text can be sent: the escapes of JSON can name half a pair of UTF-16."""
    return not any("\ud800" <= sign <= "\udfff" for sign in text)
