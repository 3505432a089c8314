"""Examples: what a task is exercised with, read from JSONL files, one file a split."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from ..agents.data_file import read_jsonl
from ..agents.errors import UsageError
from ..agents.fingerprint import fingerprint

SPLITS = ("train", "val", "test")


class Example(Protocol):
    """What a task is exercised with: a recorded call, or a scenario to be played."""

    @property
    def id(self) -> str:
        """Unique over all splits."""
        ...

    @property
    def family(self) -> str:
        """The situation it belongs to; a family stays within one split."""
        ...

    @property
    def fingerprint(self) -> str:
        """Short hash of everything that can change a score or a lesson."""
        ...


ExampleT_co = TypeVar("ExampleT_co", bound=Example, covariant=True)


class RecordedCall(BaseModel):
    """One recorded call of an agent, with what it should have returned.

    Attributes:
        id: Unique over all splits.
        family: The situation it belongs to; a family stays within one split.
        inputs: The agent's input fields.
        gold: What the rubric's checks compare with.
        why: The rule that decides the gold, as a colleague would explain it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(min_length=1)
    family: str = Field(min_length=1)
    inputs: dict[str, Any]
    gold: dict[str, Any]
    why: str = ""

    @property
    def fingerprint(self) -> str:
        """Short hash of everything that can change a score or a lesson."""
        return fingerprint(self.model_dump(exclude={"id", "family"}))


@dataclass(frozen=True, slots=True)
class Splits(Generic[ExampleT_co]):
    """The examples of a task.

    Attributes:
        train: Shown to proposers with feedback.
        val: Decides which candidate is better; never shown.
        test: Touched once, at the end.
    """

    train: Sequence[ExampleT_co]
    val: Sequence[ExampleT_co]
    test: Sequence[ExampleT_co]

    def __post_init__(self) -> None:
        for name, examples in self.named().items():
            if not examples:
                raise UsageError(
                    f"The {name} split is empty. A run needs train (to learn from), val (to "
                    "choose by) and test (to be believed)."
                )
        if found := list(overlaps(self.named())):
            raise UsageError(
                f"The splits overlap: {'; '.join(found)}. Ids must be unique, and a family must "
                "stay in one split, or the test measures what was learned by heart."
            )

    def named(self) -> Mapping[str, Sequence[ExampleT_co]]:
        """Return the splits by name."""
        return {"train": self.train, "val": self.val, "test": self.test}

    def split(self, name: str) -> Sequence[ExampleT_co]:
        """Return the examples of a split.

        Raises:
            UsageError: There is no such split.
        """
        splits = self.named()
        if name not in splits:
            raise UsageError(f"--split {name}: there is no such split; take {', '.join(splits)}.")
        return splits[name]

    def limited(self, train: int | None, val: int | None, test: int | None) -> Splits[ExampleT_co]:
        """Return at most so many examples of each split; None keeps all.

        Which ones is decided by a hash of their ids, so it is the same in every run and says
        nothing of their labels or of where they stand in the file.
        """
        return Splits(_sample(self.train, train), _sample(self.val, val), _sample(self.test, test))

    @staticmethod
    def load(folder: Path) -> Splits[RecordedCall]:
        """Read `train.jsonl`, `val.jsonl` and `test.jsonl` of a folder.

        Raises:
            UsageError: A file is missing, a line is not an example, or splits overlap.
        """
        if not folder.is_dir():
            raise UsageError(f"The examples folder {folder} does not exist.")
        return Splits(*(read_examples(folder / f"{name}.jsonl") for name in SPLITS))


def _sample(examples: Sequence[ExampleT_co], size: int | None) -> Sequence[ExampleT_co]:
    if size is None or size >= len(examples):
        return examples
    chosen = sorted(examples, key=lambda example: fingerprint(example.id))[:size]
    kept = {example.id for example in chosen}
    return [example for example in examples if example.id in kept]


def overlaps(splits: Mapping[str, Sequence[Example]]) -> Iterator[str]:
    """Say which ids are used twice and which families are in two splits, a phrase each."""
    ids: set[str] = set()
    homes: dict[str, str] = {}
    for split, examples in splits.items():
        for example in examples:
            if example.id in ids:
                yield f"the example id '{example.id}' occurs twice"
            ids.add(example.id)
        for family in dict.fromkeys(example.family for example in examples):
            home = homes.setdefault(family, split)
            if home != split:
                yield f"the family '{family}' is in the {home} and the {split} split"


def read_examples(path: Path) -> list[RecordedCall]:
    """Read one JSONL file of examples.

    Raises:
        UsageError: The file cannot be read, or a line is wrong; the message names the line.
    """
    if not path.is_file():
        raise UsageError(
            f"{path} is missing. Each task needs train.jsonl, val.jsonl and test.jsonl, one "
            "example a line: id, family, inputs, gold, why."
        )
    return [record.parse(RecordedCall) for record in read_jsonl(path)]
