"""Worked examples read back as they were written, and a person's text never gets lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cotune.agents.prompts import read_prompt
from cotune.agents.worked_examples import (
    HEADING,
    WorkedExample,
    split_examples,
    with_examples,
)

_LINE = st.text(st.characters(exclude_characters="\n"), max_size=30)
_PIECES = st.sampled_from(["\n", "\r\n", "Input: ", "Output: ", HEADING, "- ", "a b", " ", "#"])
_TEXT = st.lists(_PIECES | st.text(max_size=10), max_size=8).map("".join)
_OUTPUT = st.builds('{{"agent": "{}"}}'.format, _LINE)
_EXAMPLE = st.builds(WorkedExample, _TEXT, _OUTPUT)
_BODY = _TEXT.map(str.rstrip)

MANY = [
    WorkedExample("two lines\nand\n\nmore", '{"agent": "cart"}'),
    WorkedExample("", "{}"),
    WorkedExample("Input: nested\nOutput:none", '{"x": "\\n"}'),
]


@given(_BODY, st.lists(_EXAMPLE, min_size=1, max_size=4))
def test_what_is_writable_reads_back_as_it_was(body: str, examples: list[WorkedExample]) -> None:
    writable = [example for example in examples if example.is_writable]
    assume(writable)
    assert split_examples(with_examples(body, writable)) == (body, tuple(writable))


@given(_TEXT)
def test_splitting_loses_nothing(prompt: str) -> None:
    body, examples = split_examples(prompt)
    again = with_examples(body, examples)
    assert again.split() == prompt.split()
    assert split_examples(again) == (body, examples)


def test_inputs_may_go_over_lines_and_look_like_the_format() -> None:
    assert all(example.is_writable for example in MANY)
    assert split_examples(with_examples("Route.", MANY)) == ("Route.", tuple(MANY))


def test_people_may_set_examples_apart_by_blank_lines() -> None:
    prompt = f"Route.\n\n{HEADING}\n\nInput: a\nOutput: 1\n\nInput: b\nOutput: 2\n\n"
    assert split_examples(prompt) == ("Route.", (WorkedExample("a", "1"), WorkedExample("b", "2")))


@pytest.mark.parametrize(
    "example",
    [
        WorkedExample("a\nOutput: b", "{}"),
        WorkedExample(f"a\n{HEADING}\nb", "{}"),
        WorkedExample("a", "{\n}"),
        WorkedExample("a", ""),
        WorkedExample("a", "{} "),
    ],
)
def test_what_would_read_back_otherwise_is_not_writable(example: WorkedExample) -> None:
    assert not example.is_writable


@pytest.mark.parametrize(
    "prompt",
    [
        "Route.",
        f"Route.\n\n{HEADING}",
        f"Route.\n\n{HEADING}\nInput: a",
        f"Route.\n\n{HEADING}\nfor instance\nInput: a\nOutput: b",
        f"Route.\n\n{HEADING}\nInput: a\nOutput: b\n\n## Tone\nBe kind.",
        f"Route. {HEADING}\nInput: a\nOutput: b",
    ],
)
def test_a_section_with_anything_else_in_it_stays_text(prompt: str) -> None:
    assert split_examples(prompt) == (prompt, ())


def test_only_the_section_at_the_end_counts() -> None:
    person = f"{HEADING}\nInput: a\nOutput: b\n\nThen:"
    added = [WorkedExample("c", "d")]
    assert split_examples(with_examples(person, added)) == (person, tuple(added))


def test_a_prompt_file_from_windows_is_split_too(tmp_path: Path) -> None:
    path = tmp_path / "router.md"
    path.write_bytes(with_examples("Route.", MANY[:1]).replace("\n", "\r\n").encode())
    assert split_examples(read_prompt(path).text) == ("Route.", tuple(MANY[:1]))


def test_a_long_section_that_does_not_end_well_is_read_in_no_time() -> None:
    many = [WorkedExample(f"a b c {number}", "{}") for number in range(300)]
    prompt = with_examples("Route.", many) + "\n\n## Tone"
    assert split_examples(prompt) == (prompt, ())
