from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cotune.experiments.word_diff import Gap, Kind, Line, folded, word_diff

_SIGNS = st.sampled_from(
    ["send ", "milk", " ", "\n", "\r\n", "to", ".", "牛", "乳", "é", "🥛", "שלום", "\t"]
)
_TEXTS = st.lists(_SIGNS, max_size=30).map("".join) | st.text(max_size=40)


def _without(lines: tuple[Line, ...], kind: Kind) -> str:
    pieces = (piece for line in lines for piece in line.pieces)
    return "".join(piece.text for piece in pieces if piece.kind is not kind)


def _marked(before: str, after: str) -> str:
    signs = {Kind.SAME: "{}", Kind.ADDED: "[+{}]", Kind.REMOVED: "[-{}]"}
    pieces = (piece for line in word_diff(before, after) for piece in line.pieces)
    return "".join(signs[piece.kind].format(piece.text) for piece in pieces)


@settings(deadline=None)
@given(_TEXTS, _TEXTS)
def test_without_what_was_added_or_removed_the_other_text_is_left(before: str, after: str) -> None:
    lines = word_diff(before, after)
    assert _without(lines, Kind.ADDED) == before
    assert _without(lines, Kind.REMOVED) == after


@settings(deadline=None)
@given(_TEXTS, _TEXTS)
def test_a_line_ends_where_a_line_ends_and_no_piece_is_empty(before: str, after: str) -> None:
    for line in word_diff(before, after):
        assert all(piece.text for piece in line.pieces)
        assert "\n" not in "".join(piece.text for piece in line.pieces)[:-1]


@settings(deadline=None)
@given(_TEXTS)
def test_the_same_text_has_no_changes(text: str) -> None:
    assert not any(line.changed for line in word_diff(text, text))


@settings(deadline=None)
@given(_TEXTS, _TEXTS, st.integers(0, 3))
def test_folding_hides_unchanged_lines_only_and_counts_them(
    before: str, after: str, context: int
) -> None:
    lines = word_diff(before, after)
    parts = folded(lines, context)
    kept = [part for part in parts if isinstance(part, Line)]
    hidden = sum(part.lines for part in parts if isinstance(part, Gap))
    assert [line for line in kept if line.changed] == [line for line in lines if line.changed]
    assert len(kept) + hidden == len(lines)


@pytest.mark.parametrize(
    ("before", "after", "marked"),
    [
        ("Send it to search.", "Send it to the cart.", "Send it to [-search][+the cart]."),
        ("Be brief.", "Be brief and kind.", "Be brief[+ and kind]."),
        ("One.\nTwo.\n", "One.\nNew.\nTwo.\n", "One.\n[+New.\n]Two.\n"),
        ("买一盒牛奶", "买两盒牛奶", "买[-一][+两]盒牛奶"),
        ("Route it.", "Ask who they are first", "[-Route it.][+Ask who they are first]"),
    ],
)
def test_words_are_what_changes(before: str, after: str, marked: str) -> None:
    assert _marked(before, after) == marked


@pytest.mark.parametrize("word", ["milk ", "milk\n", "the milk, "])
def test_a_prompt_that_repeats_itself_is_compared_too(word: str) -> None:
    before, after = f"{word * 1500}now", f"First {word * 1490}later"
    lines = word_diff(before, after)
    assert _without(lines, Kind.ADDED) == before
    assert _without(lines, Kind.REMOVED) == after


def test_a_sentence_in_a_long_passage_is_found_again() -> None:
    words = [f"rule{number} of the shop," for number in range(100)]
    before, after = " ".join(words), " ".join([*words[:50], "and never pay,", *words[50:]])
    assert _marked(before, after) == after.replace("and never pay, ", "[+and never pay, ]")


def test_the_middle_of_a_long_text_is_left_out() -> None:
    text = "".join(f"Rule {number}.\n" for number in range(40))
    parts = folded(word_diff(text, f"First.\n{text}Last.\n"))
    assert [part.lines for part in parts if isinstance(part, Gap)] == [36]
    assert len(parts) == 7
