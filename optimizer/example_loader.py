"""A split of examples as gepa's data loader."""

from __future__ import annotations

from collections.abc import Sequence

from .example import Example


class ExampleLoader:
    """Examples keyed by their ids, which are unique over all splits."""

    def __init__(self, examples: Sequence[Example]) -> None:
        self._examples = {example.id: example for example in examples}

    def all_ids(self) -> list[str]:
        """Return the ids in order."""
        return list(self._examples)

    def fetch(self, ids: Sequence[str]) -> list[Example]:
        """Return the examples with these ids."""
        return [self._examples[id_] for id_ in ids]

    def __len__(self) -> int:
        return len(self._examples)
