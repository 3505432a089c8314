from __future__ import annotations

import json
from pathlib import Path

import pytest

from cotune.agents import grocery
from cotune.rubrics.evaluate import evaluate
from cotune.rubrics.rubric_file import load_rubric
from cotune.rubrics.scoring import score
from cotune.rubrics.subject import CallRecord

EXAMPLES = Path(str(grocery.__file__)).parent / "examples"


@pytest.mark.parametrize("split", ["train", "val", "test"])
@pytest.mark.parametrize("task", ["routing", "search", "selector"])
def test_the_gold_answer_of_every_example_is_perfect(task, split):
    rubric = load_rubric(f"grocery_{task}")
    lines = (EXAMPLES / task / f"{split}.jsonl").read_text(encoding="utf-8").splitlines()

    for example in map(json.loads, lines):
        record = CallRecord(example["inputs"], example["gold"], example["gold"])
        result = score(rubric, evaluate(rubric, record))
        assert (result.score, result.passed, result.inconclusive) == (1.0, True, 0), example["id"]
