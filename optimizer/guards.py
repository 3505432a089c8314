"""Guards: a candidate is checked before a rollout is spent on it.

Nothing is repaired. A refusal names the reason, which is logged and shown to the proposer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from ..agents.prompts import Prompt, PromptBundle

_MIN_QUOTE_WORDS = 5
_UNFINISHED = re.compile(r"[,(\[{:\-–—]\s*\Z")


Unfit = Callable[[PromptBundle], str | None]
"""Says why an assistant would not be told prompts as they are written; None when it would."""


def fits_all(prompts: PromptBundle) -> str | None:
    """Refuse nothing: the assistant is told any text as it is."""
    return None


@dataclass(frozen=True, slots=True)
class Guards:
    """What a new prompt must hold to.

    Attributes:
        max_length: Longest allowed prompt, in characters.
        secret: Normalised texts that must not be copied into a prompt, such as val and test
            inputs; texts of fewer than five words are too common to be a copy.
    """

    max_length: int
    secret: frozenset[str]

    @classmethod
    def protecting(cls, texts: Iterable[str], max_length: int) -> Guards:
        """Build guards that keep these texts out of prompts."""
        normalised = (_normalise(text) for text in texts)
        return cls(
            max_length,
            frozenset(text for text in normalised if len(text.split()) >= _MIN_QUOTE_WORDS),
        )

    def also(self, texts: Iterable[str]) -> Guards:
        """Return guards that keep these texts out of prompts, too."""
        return replace(self, secret=self.secret | Guards.protecting(texts, 0).secret)

    def refusal(self, parent: Prompt, text: str) -> str | None:
        """Return why this text may not replace the parent's, or None when it may."""
        if not text.strip():
            return "the prompt is empty"
        if text.strip() == parent.text.strip():
            return "the prompt is unchanged"
        if len(text) > self.max_length:
            return f"the prompt has {len(text)} characters; the cap is {self.max_length}"
        return (
            _placeholder_refusal(parent, text)
            or _truncation_refusal(parent, text)
            or self._copy_refusal(parent, text)
        )

    def _copy_refusal(self, parent: Prompt, text: str) -> str | None:
        new, old = f" {_normalise(text)} ", f" {_normalise(parent.text)} "
        for secret in sorted(self.secret):
            if f" {secret} " in new and f" {secret} " not in old:
                return "the prompt copies an example or a text that must stay out of it"
        return None


def _placeholder_refusal(parent: Prompt, text: str) -> str | None:
    before, after = parent.placeholders, parent.with_text(text).placeholders
    if lost := sorted(before - after):
        return f"the placeholder '{{{{ {lost[0]} }}}}' is lost"
    if invented := sorted(after - before):
        return f"the placeholder '{{{{ {invented[0]} }}}}' is invented"
    return None


def _truncation_refusal(parent: Prompt, text: str) -> str | None:
    """Refuse what looks cut off, unless the parent, which a person may have written, does too."""
    if text.count("```") % 2 and not parent.text.count("```") % 2:
        return "the prompt looks cut off: a code block is not closed"
    if _UNFINISHED.search(text) and not _UNFINISHED.search(parent.text):
        return f"the prompt looks cut off: it ends with '{text.strip()[-1]}'"
    return None


def _normalise(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))
