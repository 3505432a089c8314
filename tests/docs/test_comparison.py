"""What is said of other packages still stands in the versions that are installed."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from .pages import DOCS

_CITED = re.compile(r"`((?:gepa|dspy|mlflow)/[\w/]+\.py)` `([^`]+)`")
CITED = _CITED.findall((DOCS / "comparison.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("file", "words"), CITED)
def test_the_words_stand_in_the_file(file: str, words: str) -> None:
    package, _, rest = file.partition("/")
    found = find_spec(package)
    assert found is not None
    assert found.origin is not None
    assert words in (Path(found.origin).parent / rest).read_text(encoding="utf-8")


def test_every_line_of_a_table_is_cited() -> None:
    text = (DOCS / "comparison.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (?!tool)[\w ?,]+ \|.*$", text, re.MULTILINE)
    assert len(rows) > 15
    assert [row for row in rows if not (_CITED.search(row) or "](https://" in row)] == []
