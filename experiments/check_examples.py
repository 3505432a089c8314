"""Check example data: unique ids, families in one split, enough lines, nothing repeated.

A held-out score means something only if the held-out examples are not in the training data
under another name. Run `python -m cotune.experiments.check_examples [FOLDER]...`; without a
folder, every task of the grocery assistant is checked.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Annotated

import typer

from ..agents.errors import CotuneError
from ..optimizer.example import SPLITS, RecordedCall, overlaps, read_examples

GROCERY_EXAMPLES = Path(__file__).resolve().parents[1] / "agents" / "grocery" / "examples"
MINIMUM_COUNTS: Mapping[str, int] = {"train": 60, "val": 40, "test": 80}

# Measured on the routing messages of six words and more: with one word replaced, 99 in 100 pairs
# reach 0.5; with two, 80 in 100; messages written apart from each other stay below 0.35.
NEAR_REPEAT = 0.5
GRAM_LENGTH = 4


@dataclass(frozen=True, slots=True)
class Wording:
    """What an example says, made comparable."""

    split: str
    id: str
    text: str
    grams: frozenset[str]


def check_folder(folder: Path) -> list[str]:
    """Check one task's `train.jsonl`, `val.jsonl` and `test.jsonl`.

    Returns:
        One line for a person per finding; empty when the data is sound.

    Raises:
        UsageError: A file is missing, or a line is not an example.
    """
    splits = {split: read_examples(folder / f"{split}.jsonl") for split in SPLITS}
    findings = [
        *_too_few(splits),
        *overlaps(splits),
        *_unexplained(splits),
        *_repeated_wordings(splits),
    ]
    return [f"{folder.name}: {finding}" for finding in findings]


def normalise(text: str) -> str:
    """Drop what does not tell two messages apart: case, punctuation and white space."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join("".join(c if c.isalnum() else " " for c in folded).split())


def similarity(first: frozenset[str], second: frozenset[str]) -> float:
    """Return the Jaccard index of two sets, between 0 (nothing shared) and 1 (equal)."""
    union = len(first | second)
    return len(first & second) / union if union else 1.0


def character_grams(text: str) -> frozenset[str]:
    """Return the runs of `GRAM_LENGTH` characters; a shorter text is its own only run."""
    starts = range(max(1, len(text) - GRAM_LENGTH + 1))
    return frozenset(text[start : start + GRAM_LENGTH] for start in starts)


def _too_few(splits: Mapping[str, list[RecordedCall]]) -> Iterator[str]:
    for split, examples in splits.items():
        if len(examples) < MINIMUM_COUNTS[split]:
            yield f"{split} has {len(examples)} examples, fewer than {MINIMUM_COUNTS[split]}"


def _unexplained(splits: Mapping[str, list[RecordedCall]]) -> Iterator[str]:
    for split, examples in splits.items():
        yield from (f"{split} {e.id} does not say why" for e in examples if not e.why.strip())


def _repeated_wordings(splits: Mapping[str, list[RecordedCall]]) -> Iterator[str]:
    wordings = [_wording(split, e) for split, examples in splits.items() for e in examples]
    for earlier, later in combinations(wordings, 2):
        if earlier.split == later.split:
            continue
        pair = f"{later.split} {later.id} repeats {earlier.split} {earlier.id}"
        if earlier.text == later.text:
            yield f"{pair}: {later.text!r}"
        elif (score := similarity(earlier.grams, later.grams)) >= NEAR_REPEAT:
            yield f"{pair} nearly ({score:.2f}): {later.text!r} and {earlier.text!r}"


def _wording(split: str, example: RecordedCall) -> Wording:
    # Only the customer's own words are compared: two questions about the same shelf are two
    # examples, while one question about two shelves is a template.
    words = [value for value in example.inputs.values() if isinstance(value, str)]
    text = normalise(" ".join(words))
    return Wording(split, example.id, text, character_grams(text))


def main(
    folders: Annotated[
        list[Path] | None, typer.Argument(help="Task folders; default: the grocery tasks.")
    ] = None,
) -> None:
    """Check example data; exit code 1 when something is found, 2 when it cannot be read."""
    tasks = folders or sorted(path for path in GROCERY_EXAMPLES.iterdir() if path.is_dir())
    try:
        findings = [finding for task in tasks for finding in check_folder(task)]
    except CotuneError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(error.exit_code) from error
    for finding in findings:
        typer.echo(finding)
    if findings:
        raise typer.Exit(1)
    typer.echo(f"No findings in {', '.join(task.name for task in tasks)}.")


if __name__ == "__main__":
    typer.run(main)
