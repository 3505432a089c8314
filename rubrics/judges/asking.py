"""Asking: what every judge that is a model has in common."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from ...agents.errors import FaultError, FaultOrigin, UsageError
from ...agents.fingerprint import fingerprint
from ...agents.ledger import charged_to
from ...agents.lm import LanguageModel
from ...agents.prompts import PromptBundle
from ..rubric import Rubric
from ..verdicts import Verdicts
from .answer import Opinion

T = TypeVar("T")


def require_prompts(prompts: PromptBundle, names: Iterable[str], rubric: Rubric) -> None:
    """See that every name has a prompt.

    Raises:
        UsageError: One has none.
    """
    missing = sorted(set(names) - set(prompts))
    if missing:
        raise UsageError(
            f"The judge has no prompt named '{missing[0]}', which it needs for the rubric "
            f"'{rubric.id}'. It has: {', '.join(prompts) or 'none'}."
        )


def signed(
    opinions: Sequence[Opinion], lm: LanguageModel, prompts: PromptBundle, rubric: Rubric
) -> Verdicts:
    """Return the verdicts with who gave them: model, prompts and rubric."""
    by = {
        "model": lm.settings.model,
        "prompts": prompts.fingerprint,
        "rubric": rubric.fingerprint,
    }
    verdicts = (
        replace(each.verdict, confidence=each.confidence, pass_probability=each.pass_probability)
        for each in opinions
    )
    return Verdicts(tuple(verdicts), by)


async def all_of(calls: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Wait for all calls, so that none goes on after a failure; then raise the first failure."""
    results = await asyncio.gather(*calls, return_exceptions=True)
    failures = [result for result in results if isinstance(result, BaseException)]
    if failures:
        raise failures[0]
    return [result for result in results if not isinstance(result, BaseException)]


@contextmanager
def asked_as_judge(name: str) -> Iterator[None]:
    """Charge the calls in the block to a prompt, and attribute what goes wrong.

    What would be an assistant's own failure, such as a prompt that is too long, is the judge's.

    Raises:
        FaultError: A call in the block failed.
    """
    try:
        with charged_to(agent=name):
            yield
    except FaultError as error:
        fault = error.fault
        if fault.origin is FaultOrigin.ASSISTANT:
            fault = replace(fault, origin=FaultOrigin.JUDGE)
        raise FaultError(fault.said_of("judge")) from error


@cache
def code_of_judges() -> str:
    """Return a fingerprint of the code that asks and reads: another code is another judge."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    return fingerprint([file.read_text(encoding="utf-8") for file in files])
