"""Examples: a wrong line is named by file, line and field, and splits never overlap."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cotune.agents.errors import UsageError
from cotune.optimizer.example import RecordedCall, Splits, read_examples

from .tasks import ROUTING, examples

GOOD = {"id": "a", "family": "f", "inputs": {"message": "hi"}, "gold": {"agent": "x"}, "why": "w"}


def _write(path: Path, *records: dict[str, Any] | str) -> Path:
    lines = [one if isinstance(one, str) else json.dumps(one) for one in records]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _example(id_: str, family: str) -> RecordedCall:
    return RecordedCall(id=id_, family=family, inputs={}, gold={})


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ({**GOOD, "id": ""}, "id"),
        ({name: GOOD[name] for name in GOOD if name != "gold"}, "gold"),
        ({**GOOD, "golden": 1}, "golden"),
        ({**GOOD, "inputs": "hi"}, "inputs"),
        ({**GOOD, "why": 3}, "why"),
        ("{not json", "the line"),
        ("[1, 2]", "the line"),
    ],
)
def test_a_wrong_line_is_named_by_file_line_and_field(
    line: dict[str, Any] | str, field: str, tmp_path: Path
) -> None:
    path = _write(tmp_path / "train.jsonl", GOOD, "", line)
    with pytest.raises(UsageError) as caught:
        read_examples(path)
    assert f"{path}, line 3" in str(caught.value)
    assert field in str(caught.value)
    assert "\n" not in str(caught.value)


def test_blank_lines_and_line_separators_inside_strings_are_no_lines(tmp_path: Path) -> None:
    message = "one\u2028two\x85three"
    record = json.dumps({**GOOD, "inputs": {"message": message}}, ensure_ascii=False)
    path = _write(tmp_path / "train.jsonl", "", record, "  ")
    assert [one.inputs["message"] for one in read_examples(path)] == [message]


def test_windows_line_ends_are_read(tmp_path: Path) -> None:
    path = tmp_path / "train.jsonl"
    path.write_bytes(
        (json.dumps(GOOD) + "\r\n" + json.dumps({**GOOD, "id": "b"}) + "\r\n").encode()
    )
    assert [one.id for one in read_examples(path)] == ["a", "b"]


def test_a_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    path = tmp_path / "train.jsonl"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match=r"train\.jsonl"):
        read_examples(path)


def test_a_missing_folder_and_a_missing_split_are_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"examples folder .* does not exist"):
        Splits.load(tmp_path / "nowhere")
    _write(tmp_path / "train.jsonl", GOOD)
    with pytest.raises(UsageError, match=r"val\.jsonl is missing"):
        Splits.load(tmp_path)


@pytest.mark.parametrize("empty", ["train", "val", "test"])
def test_an_empty_split_is_refused(empty: str) -> None:
    named = {name: examples(name, 0 if name == empty else 2) for name in ("train", "val", "test")}
    with pytest.raises(UsageError, match=f"The {empty} split is empty"):
        Splits(**named)


def test_a_family_in_two_splits_is_refused() -> None:
    with pytest.raises(UsageError, match="'shared' is in the train and the test split"):
        Splits([_example("a", "shared")], [_example("b", "own")], [_example("c", "shared")])


@pytest.mark.parametrize("second", [("a", "f"), ("a", "g")])
def test_an_id_that_occurs_twice_is_refused(second: tuple[str, str]) -> None:
    with pytest.raises(UsageError, match="'a' occurs twice"):
        Splits([_example("a", "f")], [_example(*second)], [_example("c", "h")])
    with pytest.raises(UsageError, match="'a' occurs twice"):
        Splits([_example("a", "f"), _example("a", "f")], [_example("b", "g")], examples("test", 1))


def test_the_fingerprint_follows_what_can_change_a_score_or_a_lesson() -> None:
    example = RecordedCall.model_validate(GOOD)
    for name, value in {"inputs": {}, "gold": {}, "why": ""}.items():
        other = RecordedCall.model_validate({**GOOD, name: value})
        assert other.fingerprint != example.fingerprint
    assert RecordedCall.model_validate({**GOOD, "family": "g"}).fingerprint == example.fingerprint


def test_the_examples_of_the_project_load() -> None:
    loaded = Splits.load(ROUTING)
    assert len(loaded.train) >= 60
    assert len(loaded.val) >= 40
    assert len(loaded.test) >= 80
