"""Every command on every page is one: its options are known, whether a page runs it or not."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
import typer

from .pages import ROOT, Block, all_pages, commands

BLOCKS = [block for page in all_pages() for block in page.blocks()]


@cache
def _command_line() -> Any:
    from cotune.experiments.cli import add_groups, app

    add_groups()
    return typer.main.get_command(app)


def parse(words: list[str]) -> None:
    """Parse a command without running it.

    Raises:
        SystemExit: It has an option that is not known, or lacks something.
    """
    command, context = _command_line(), None
    words = [*words]
    while True:
        context = command.make_context(words[0], words[1:], parent=context)
        rest = [*context._protected_args, *context.args]
        if not (rest and hasattr(command, "commands")):
            return
        name, command, rest = command.resolve_command(context, rest)
        words = [name, *rest]


def _typed(block: Block) -> Iterator[list[str]]:
    for words in commands(block.text):
        if words[0] == "cotune":
            yield words


@pytest.mark.parametrize(
    "block",
    [block for block in BLOCKS if block.language == "sh" and "cotune " in block.text],
    ids=str,
)
def test_a_command_parses(block: Block) -> None:
    for words in _typed(block):
        parse(words)


@pytest.mark.parametrize(
    "words",
    [
        ["cotune", "simulate", "--no-such-option"],
        ["cotune", "no-such-command"],
        ["cotune", "rubric", "show"],
    ],
)
def test_what_is_no_command_does_not(words: list[str]) -> None:
    with pytest.raises(Exception, match=r"(?i)no such|missing"):
        parse(words)


def test_commands_stand_in_blocks_of_shell() -> None:
    """Elsewhere nobody would run them."""
    looked_at = {"sh", "text"}
    assert not [
        str(block)
        for block in BLOCKS
        if block.text.startswith("cotune ")
        and block.language not in looked_at
        and block.page.parent != ROOT
    ]
