"""Coroutines are run to their end from sync code, whether or not a loop runs around it."""

from __future__ import annotations

import asyncio
import threading

import pytest

from cotune.agents.blocking import blocking


async def _double(number: int) -> tuple[int, int]:
    await asyncio.sleep(0)
    return 2 * number, threading.get_ident()


async def _fail() -> None:
    raise ValueError("broken")


def test_without_a_loop_it_runs_here() -> None:
    assert blocking(_double(4)) == (8, threading.get_ident())


def test_inside_a_loop_it_runs_beside_it_and_leaves_no_thread() -> None:
    async def notebook() -> tuple[int, int]:
        return blocking(_double(4))

    threads = threading.active_count()
    doubled, thread = asyncio.run(notebook())
    assert doubled == 8
    assert thread != threading.get_ident()
    assert threading.active_count() == threads


@pytest.mark.parametrize("nested", [False, True])
def test_what_it_raises_comes_through(nested: bool) -> None:
    async def notebook() -> None:
        blocking(_fail())

    with pytest.raises(ValueError, match="broken"):
        asyncio.run(notebook()) if nested else blocking(_fail())
