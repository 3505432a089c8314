from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cotune.experiments.highlight import spans

_WORDS = st.sampled_from(["milk", " ", "two", "\n", "Total:", "<b>", "é", "customer: ", "("])
_TEXTS = st.lists(_WORDS, max_size=12).map("".join)


def _marked(text: str, *quotes: str) -> str:
    return "".join(f"[{span.text}]" if span.quoted else span.text for span in spans(text, quotes))


@given(_TEXTS, st.lists(_TEXTS, max_size=4))
def test_the_parts_are_the_text(text: str, quotes: list[str]) -> None:
    assert "".join(span.text for span in spans(text, quotes)) == text


@pytest.mark.parametrize(
    ("text", "quotes", "marked"),
    [
        ("Two packs\nof milk.", ["packs of MILK"], "Two [packs\nof milk]."),
        ("Two packs of milk.", ["customer: two packs"], "[Two packs] of milk."),
        ("Two packs.", ["[turn 3] assistant: two packs."], "[Two packs.]"),
        ("total: 3 euros", ["total: 3 euros"], "[total: 3 euros]"),
        ("abcdef", ["abcd", "cdef"], "[abcdef]"),
        ("milk and milk", ["milk"], "[milk] and [milk]"),
        ("a (b) c.*", ["(b) c.*"], "a [(b) c.*]"),
        ("nothing of that kind", ["cart: empty"], "nothing of that kind"),
        ("an apple", ["an", ""], "an apple"),
    ],
)
def test_quotes_are_found_whatever_their_spacing_and_case(
    text: str, quotes: list[str], marked: str
) -> None:
    assert _marked(text, *quotes) == marked
