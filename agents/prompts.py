"""Prompts and prompt bundles: immutable, fingerprinted, kept as Markdown files.

A prompt's text may hold placeholders in double braces (`{{ store }}`), which the assistant
fills in at run time. Single braces are ordinary text, so JSON in a prompt needs no escape.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

import yaml

from .errors import UsageError
from .fingerprint import fingerprint
from .text_file import read_text

_PLACEHOLDER = re.compile(r"\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}")
_FENCE = "---"
_FRONT_MATTER = re.compile(rf"\A{_FENCE}\n(.*?)\n{_FENCE}(?:\n(.*))?\Z", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*\Z")  # with dots: agents inside of agents


@dataclass(frozen=True)
class Prompt:
    """One agent's prompt.

    Attributes:
        agent: The agent's name, unique in its bundle.
        text: What the model is told, as its system message.
        description: What the agent is for; shown to people and to the reflection model.
    """

    agent: str
    text: str
    description: str = ""

    @cached_property
    def placeholders(self) -> frozenset[str]:
        """Names in double braces that the assistant fills in."""
        return frozenset(_PLACEHOLDER.findall(self.text))

    @cached_property
    def fingerprint(self) -> str:
        """Short hash of agent and text; the description does not change what is sent."""
        return fingerprint({"agent": self.agent, "text": self.text})

    def render(self, values: Mapping[str, str] | None = None) -> str:
        """Fill the placeholders.

        Raises:
            UsageError: A placeholder has no value.
        """
        values = values or {}
        missing = sorted(self.placeholders - set(values))
        if missing:
            raise UsageError(
                f"The prompt of agent '{self.agent}' has the placeholder '{missing[0]}', "
                "for which the assistant has no value. Remove it or name one it knows."
            )
        return _PLACEHOLDER.sub(lambda match: values[match[1]], self.text)

    def with_text(self, text: str) -> Prompt:
        """Return this prompt with another text."""
        return Prompt(self.agent, text, self.description)


@dataclass(frozen=True)
class PromptBundle(Mapping[str, Prompt]):
    """The prompts of all agents of an assistant, by agent name; immutable.

    It is what gepa calls a candidate; `texts()` and `with_texts()` translate.
    """

    _prompts: Mapping[str, Prompt] = field(default_factory=dict)

    def __post_init__(self) -> None:
        ordered = {name: self._prompts[name] for name in sorted(self._prompts)}
        for name, prompt in ordered.items():
            if name != prompt.agent:
                raise ValueError(f"prompt of agent '{prompt.agent}' stored under '{name}'")
        object.__setattr__(self, "_prompts", MappingProxyType(ordered))

    @classmethod
    def of(cls, *prompts: Prompt) -> PromptBundle:
        """Build a bundle from prompts."""
        return cls({prompt.agent: prompt for prompt in prompts})

    def __getitem__(self, agent: str) -> Prompt:
        return self._prompts[agent]

    def __iter__(self) -> Iterator[str]:
        return iter(self._prompts)

    def __len__(self) -> int:
        return len(self._prompts)

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __reduce__(self) -> tuple[type[PromptBundle], tuple[dict[str, Prompt]]]:
        """Say how to copy it: a read-only view can neither be copied nor sent elsewhere."""
        return PromptBundle, (dict(self._prompts),)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PromptBundle) and self.fingerprint == other.fingerprint

    @cached_property
    def fingerprint(self) -> str:
        """Short hash of all agents' texts."""
        return fingerprint({name: prompt.fingerprint for name, prompt in self.items()})

    @property
    def length(self) -> int:
        """Characters of all texts together; watched, because evolved prompts bloat."""
        return sum(len(prompt.text) for prompt in self.values())

    def texts(self) -> dict[str, str]:
        """Return the plain texts by agent name, as gepa passes candidates around."""
        return {name: prompt.text for name, prompt in self.items()}

    def with_texts(self, texts: Mapping[str, str]) -> PromptBundle:
        """Return a bundle in which the named agents have other texts.

        Raises:
            KeyError: An agent is not in this bundle.
        """
        changed = {name: self[name].with_text(text) for name, text in texts.items()}
        return PromptBundle({**self._prompts, **changed})

    def only(self, *agents: str) -> PromptBundle:
        """Return the bundle of the named agents.

        Raises:
            KeyError: An agent is not in this bundle.
        """
        return PromptBundle.of(*(self[agent] for agent in agents))

    def diff(self, other: PromptBundle) -> str:
        """Return a unified diff of the texts that differ, agent by agent."""
        lines: list[str] = []
        for agent in sorted(set(self) | set(other)):
            before = self[agent].text.splitlines() if agent in self else []
            after = other[agent].text.splitlines() if agent in other else []
            lines += difflib.unified_diff(
                before, after, f"{agent} (before)", f"{agent} (after)", lineterm=""
            )
        return "\n".join(lines)

    @classmethod
    def load(cls, folder: str | Path) -> PromptBundle:
        """Read every `AGENT.md` of a folder.

        Raises:
            UsageError: The folder is missing or empty, or a file is not as it should be.
        """
        folder = Path(folder)
        paths = sorted(folder.glob("*.md"))
        if not paths:
            raise UsageError(f"No prompts found: {folder} holds no AGENT.md file.")
        return cls.of(*(read_prompt(path) for path in paths))

    def save(self, folder: str | Path) -> None:
        """Write one `AGENT.md` with front matter per agent."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        for name, prompt in self.items():
            (folder / f"{name}.md").write_text(_write(prompt), encoding="utf-8")


def read_prompt(path: Path) -> Prompt:
    """Read one `AGENT.md`, named after its agent.

    Raises:
        UsageError: The file is not as it should be.
    """
    agent = path.stem
    require_name(agent, path)
    raw = read_text(path, "prompt")
    match = _FRONT_MATTER.match(raw)
    head, text = (match[1], match[2] or "") if match else ("", raw)
    if not text.strip():
        raise UsageError(f"{path}: the prompt is empty.")
    return Prompt(agent, text.strip(), _description(path, head))


def require_name(agent: str, path: Path) -> None:
    """Refuse what cannot be an agent's name, because it could not be a file's.

    Raises:
        UsageError: It cannot; names the file that says it.
    """
    if not _NAME.match(agent):
        raise UsageError(
            f"{path}: '{agent}' cannot be an agent's name; use letters, digits, '-', '_' and '.'."
        )


def _description(path: Path, head: str) -> str:
    try:
        meta = yaml.safe_load(head) or {}
    except (yaml.YAMLError, ValueError) as error:  # ValueError: a date that does not exist
        raise UsageError(f"{path}: the front matter is not valid YAML: {error}") from error
    if not isinstance(meta, dict):
        raise UsageError(f"{path}: the front matter must be a mapping, such as 'description: …'.")
    unknown = sorted(str(field) for field in meta if field != "description")
    if unknown:
        raise UsageError(f"{path}: unknown front matter field '{unknown[0]}'; known: description.")
    description = meta.get("description")
    if not isinstance(description, str | None):
        raise UsageError(
            f"{path}: the description must be a text, found {description!r:.80}; put it in quotes."
        )
    return description or ""


def _write(prompt: Prompt) -> str:
    if not prompt.description and not prompt.text.startswith(_FENCE):
        return f"{prompt.text}\n"
    # A text that starts like front matter is told from it by front matter of its own.
    meta = {"description": prompt.description}
    # Unescaped, PyYAML reads some control characters back as others.
    readable = prompt.description.replace("\n", " ").isprintable()
    head = yaml.safe_dump(meta, allow_unicode=readable, width=88).rstrip("\n")
    return f"{_FENCE}\n{head}\n{_FENCE}\n{prompt.text}\n"
