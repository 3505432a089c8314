"""From sync to async: a coroutine run to its end, also where an event loop runs already.

A notebook has such a loop, in which `asyncio.run` refuses to work.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

_Result = TypeVar("_Result")


def blocking(coroutine: Coroutine[Any, Any, _Result]) -> _Result:
    """Run a coroutine and return what it returns; where a loop runs, in a thread with its own.

    Raises:
        KeyboardInterrupt: A person stopped it; it was cancelled.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    cancel: Future[Callable[[], object]] = Future()

    async def cancellable() -> _Result:
        task, loop = asyncio.current_task(), asyncio.get_running_loop()
        assert task is not None
        cancel.set_result(lambda: loop.call_soon_threadsafe(task.cancel))
        return await coroutine

    with ThreadPoolExecutor(1, thread_name_prefix="cotune") as pool:
        running = pool.submit(asyncio.run, cancellable())
        try:
            return running.result()
        except KeyboardInterrupt:
            cancel.result()()
            raise
