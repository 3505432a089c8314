"""Messages that are quoted and cannot be provoked here still stand in the source."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache

import pytest

from .pages import DOCS, ROOT, Block, Page

LAYERS = ("agents", "simulation", "rubrics", "optimizer", "experiments")
QUOTED = [
    block
    for block in Page.read(DOCS / "troubleshooting.md").blocks()
    if block.language == "text" and not block.follows
]
GAP = "…"


@cache
def _texts() -> str:
    """Return all texts of the source, with a gap for each value that is put in."""
    trees = [
        ast.parse(path.read_text(encoding="utf-8"))
        for layer in LAYERS
        for path in (ROOT / layer).rglob("*.py")
    ]
    return "\n".join(text for tree in trees for node in ast.walk(tree) for text in _text(node))


def _text(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.JoinedStr(values=parts):
            yield "".join(next(_text(part), GAP) for part in parts)
        case ast.Constant(value=str(text)):
            yield text


@pytest.mark.parametrize("block", QUOTED, ids=str)
def test_a_quoted_message_stands_in_the_source(block: Block) -> None:
    said = block.text.removeprefix("cotune: ")
    pieces = [piece.strip() for piece in re.split(r"…|(?<=\.) ", said)]
    missing = [piece for piece in pieces if len(piece) > 3 and piece not in _texts()]
    assert not missing


def test_there_are_some() -> None:
    assert len(QUOTED) > 8


def test_a_message_that_nobody_writes_is_found_out() -> None:
    assert "which is not set. Set it, or name another" in _texts()
    assert "which is not set. Put it, or name another" not in _texts()
