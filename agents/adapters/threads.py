"""Threads for assistants that are not asynchronous."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import TypeVar

_Result = TypeVar("_Result")

# asyncio's own are few, and mostly wait for models here: conversations would stand in line.
_THREADS = ThreadPoolExecutor(max_workers=1024, thread_name_prefix="cotune-assistant")


async def in_thread(function: Callable[..., _Result], *args: object) -> _Result:
    """Call a function that blocks, in this context, without holding up other conversations."""
    context = copy_context()
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_THREADS, lambda: context.run(function, *args))
