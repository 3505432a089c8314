"""Examples: what a task is exercised with, read from JSONL files, one file a split."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..agents.errors import UsageError
from ..agents.fingerprint import fingerprint

SPLITS = ("train", "val", "test")


class Example(BaseModel):
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

    @cached_property
    def fingerprint(self) -> str:
        """Short hash of everything that can change a score or a lesson."""
        return fingerprint(self.model_dump(exclude={"id", "family"}))


@dataclass(frozen=True, slots=True)
class Splits:
    """The examples of a task.

    Attributes:
        train: Shown to proposers with feedback.
        val: Decides which candidate is better; never shown.
        test: Touched once, at the end.
    """

    train: Sequence[Example]
    val: Sequence[Example]
    test: Sequence[Example]

    def __post_init__(self) -> None:
        seen: dict[str, str] = {}
        for name, examples in self.named().items():
            if not examples:
                raise UsageError(
                    f"The {name} split is empty. A run needs train (to learn from), val (to "
                    "choose by) and test (to be believed)."
                )
            for example in examples:
                if example.id in seen:
                    raise UsageError(f"Example id '{example.id}' occurs twice; ids must be unique.")
                seen[example.id] = name
        self._families_stay_apart()

    def named(self) -> Mapping[str, Sequence[Example]]:
        """Return the splits by name."""
        return {"train": self.train, "val": self.val, "test": self.test}

    def limited(self, train: int | None, val: int | None, test: int | None) -> Splits:
        """Return at most so many examples of each split; None keeps all.

        Which ones is decided by a hash of their ids, so it is the same in every run and says
        nothing of their labels or of where they stand in the file.
        """
        return Splits(
            _sample(self.train, train), _sample(self.val, val), _sample(self.test, test)
        )

    def _families_stay_apart(self) -> None:
        home: dict[str, str] = {}
        for name, examples in self.named().items():
            for example in examples:
                other = home.setdefault(example.family, name)
                if other != name:
                    raise UsageError(
                        f"Family '{example.family}' is in the {other} and the {name} split "
                        f"(example '{example.id}'). A family must stay in one split, or the test "
                        "measures what was learned by heart."
                    )

    @classmethod
    def load(cls, folder: Path) -> Splits:
        """Read `train.jsonl`, `val.jsonl` and `test.jsonl` of a folder.

        Raises:
            UsageError: A file is missing, a line is not an example, or splits overlap.
        """
        if not folder.is_dir():
            raise UsageError(f"The examples folder {folder} does not exist.")
        return cls(*(read_examples(folder / f"{name}.jsonl") for name in SPLITS))


def _sample(examples: Sequence[Example], size: int | None) -> Sequence[Example]:
    if size is None or size >= len(examples):
        return examples
    chosen = sorted(examples, key=lambda example: fingerprint(example.id))[:size]
    kept = {example.id for example in chosen}
    return [example for example in examples if example.id in kept]


def read_examples(path: Path) -> list[Example]:
    """Read one JSONL file of examples.

    Raises:
        UsageError: The file is missing or a line is wrong; the message names the line.
    """
    if not path.is_file():
        raise UsageError(
            f"{path} is missing. Each task needs train.jsonl, val.jsonl and test.jsonl, one "
            "example a line: id, family, inputs, gold, why."
        )
    examples = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if line.strip():
            examples.append(_parse(line, path, number))
    return examples


def _parse(line: str, path: Path, number: int) -> Example:
    try:
        return Example.model_validate_json(line)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in problem["loc"]) or "the line"
        raise UsageError(f"{path}, line {number}: {where}: {problem['msg']}.") from error
