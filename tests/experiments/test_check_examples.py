from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from cotune.agents.errors import UsageError
from cotune.experiments.check_examples import (
    GROCERY_EXAMPLES,
    MINIMUM_COUNTS,
    character_grams,
    check_folder,
    main,
    normalise,
    similarity,
)
from cotune.optimizer.example import read_examples

TASKS = sorted(path for path in GROCERY_EXAMPLES.iterdir() if path.is_dir())
ROUTES = {"search", "selector", "preferences", "cart", "responder"}

Splits = dict[str, list[dict]]


def _sound_splits() -> Splits:
    def line(split: str, number: int) -> dict:
        digits = f"{split}{number}" * 3
        return {
            "id": f"{split}-{number}",
            "family": f"{split}-family",
            "inputs": {"message": f"{digits} {number:b}"},
            "gold": {"agent": "search"},
            "why": "A rule.",
        }

    return {
        split: [line(split, n) for n in range(count)] for split, count in MINIMUM_COUNTS.items()
    }


def _write(folder: Path, splits: Splits) -> Path:
    folder.mkdir(exist_ok=True)
    for split, lines in splits.items():
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / f"{split}.jsonl").write_text(text, encoding="utf-8")
    return folder


def _run(*arguments: Path):
    app = typer.Typer()
    app.command()(main)
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.mark.parametrize("task", TASKS, ids=lambda path: path.name)
def test_the_grocery_examples_are_sound(task: Path):
    assert check_folder(task) == []


@pytest.mark.parametrize("split", MINIMUM_COUNTS)
def test_routing_labels_are_the_agents_in_equal_numbers(split: str):
    examples = read_examples(GROCERY_EXAMPLES / "routing" / f"{split}.jsonl")
    labels = [example.gold["agent"] for example in examples]
    assert {label: labels.count(label) for label in ROUTES} == dict.fromkeys(
        ROUTES, len(examples) // len(ROUTES)
    )


def test_every_routing_rule_can_be_learnt_from_train():
    rules = {
        split: {e.why for e in read_examples(GROCERY_EXAMPLES / "routing" / f"{split}.jsonl")}
        for split in MINIMUM_COUNTS
    }
    assert rules["val"] <= rules["train"]
    assert rules["test"] <= rules["train"]


def test_sound_data_has_no_findings(tmp_path: Path):
    assert check_folder(_write(tmp_path / "task", _sound_splits())) == []


@pytest.mark.parametrize(
    ("copy", "expected"),
    [
        (
            "  take the bananas, out AGAIN of my shopping cart",
            "test test-3 repeats train train-7: ",
        ),
        (
            "Take the lemons out again of my shopping cart",
            "test test-3 repeats train train-7 nearly",
        ),
    ],
)
def test_a_planted_repeat_is_found(tmp_path: Path, copy: str, expected: str):
    splits = _sound_splits()
    splits["train"][7]["inputs"] = {"message": "Take the bananas out again of my shopping cart."}
    splits["test"][3]["inputs"] = {"message": copy}

    (finding,) = check_folder(_write(tmp_path / "task", splits))

    assert expected in finding


def test_a_repeat_within_one_split_is_allowed(tmp_path: Path):
    splits = _sound_splits()
    splits["train"][0]["inputs"] = splits["train"][1]["inputs"]
    assert check_folder(_write(tmp_path / "task", splits)) == []


def test_the_same_words_over_another_context_are_a_repeat(tmp_path: Path):
    splits = _sound_splits()
    splits["val"][0]["inputs"] = {"request": "the cheapest oat milk", "candidates": [{"id": "a"}]}
    splits["test"][0]["inputs"] = {"request": "the cheapest oat milk", "candidates": [{"id": "b"}]}
    (finding,) = check_folder(_write(tmp_path / "task", splits))
    assert "test test-0 repeats val val-0" in finding


def test_ids_families_and_counts_are_checked(tmp_path: Path):
    splits = _sound_splits()
    splits["test"].pop()
    splits["test"][0]["id"] = "train-0"
    splits["val"][0]["family"] = "train-family"
    splits["val"][1]["why"] = " "

    assert check_folder(_write(tmp_path / "task", splits)) == [
        "task: test has 79 examples, fewer than 80",
        "task: the family 'train-family' is in the train and the val split",
        "task: the example id 'train-0' occurs twice",
        "task: val val-1 does not say why",
    ]


def test_the_command_exits_with_1_and_names_the_pair(tmp_path: Path):
    splits = _sound_splits()
    splits["val"][5]["inputs"] = splits["train"][2]["inputs"]
    result = _run(_write(tmp_path / "task", splits))
    assert result.exit_code == 1
    assert "val val-5 repeats train train-2" in result.output


def test_the_command_exits_with_0_on_sound_data(tmp_path: Path):
    result = _run(_write(tmp_path / "task", _sound_splits()))
    assert result.exit_code == 0
    assert "No findings in task" in result.output


def test_a_missing_split_exits_with_2(tmp_path: Path):
    splits = _sound_splits()
    del splits["test"]
    result = _run(_write(tmp_path / "task", splits))
    assert result.exit_code == 2
    assert "test.jsonl" in result.output


@pytest.mark.parametrize(
    ("line", "named"), [("{not json", "line 2"), ('{"id": "a"}', "line 2: family")]
)
def test_a_broken_line_is_named(tmp_path: Path, line: str, named: str):
    path = tmp_path / "train.jsonl"
    path.write_text(f"{json.dumps(_sound_splits()['train'][0])}\n{line}\n", encoding="utf-8")
    with pytest.raises(UsageError, match=named):
        read_examples(path)


def test_a_line_separator_inside_a_text_does_not_end_the_line(tmp_path: Path):
    example = _sound_splits()["train"][0] | {"inputs": {"message": "one\u2028two"}}
    path = tmp_path / "train.jsonl"
    path.write_text(json.dumps(example, ensure_ascii=False) + "\r\n", encoding="utf-8")
    (read,) = read_examples(path)
    assert read.inputs == {"message": "one\u2028two"}


@given(st.text())
def test_normalising_twice_changes_nothing(text: str):
    assert normalise(normalise(text)) == normalise(text)


@given(st.text(), st.text())
def test_similarity_is_symmetric_and_between_0_and_1(first: str, second: str):
    one, other = character_grams(first), character_grams(second)
    assert similarity(one, other) == similarity(other, one)
    assert 0 <= similarity(one, other) <= 1
    assert similarity(one, one) == 1
