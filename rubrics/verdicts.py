"""A conversation's verdicts, together with who gave them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .verdict import Verdict


@dataclass(frozen=True, slots=True)
class Verdicts:
    """All verdicts of one subject.

    Attributes:
        verdicts: In the rubric's order; see `evaluate` and `score`.
        by: What gave them, name by name: the rubric's fingerprint and, where a model judged, the
            model and its prompts' fingerprint.
    """

    verdicts: tuple[Verdict, ...]
    by: Mapping[str, str] = field(default_factory=dict)
