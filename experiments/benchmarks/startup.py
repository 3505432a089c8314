"""What cotune costs before a model answers: the time to start, and CPU time per model call.

Run it with `python -m cotune.experiments.benchmarks.startup`. Everything is measured in one run
on one machine, against what it is built on: starting against `python -c pass`, a call of
`LanguageModel` against a bare `dspy.LM`, both on the same scripted engine in this process.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator

import dspy
from dspy.lm15 import Request, request_from_openai_chat

from ...agents.budget import Budget, Limits
from ...agents.ledger import Ledger, Role
from ...agents.lm import LanguageModel
from ...agents.models import ModelSettings
from ...agents.scripted.engine import AsyncScriptedEngine, ScriptedEngine

STARTS = 5
ROUNDS = 7
CALLS = 300
_HELP = (
    "import sys; from cotune.experiments.cli import main; sys.argv = ['cotune', '--help']; main()"
)


def start_seconds(code: str) -> float:
    """Return the best wall time of a new Python process that runs the code, in seconds."""
    return min(_timed(code) for _ in range(STARTS))


def call_seconds(*models: dspy.LM) -> list[float]:
    """Return the CPU time of one call of each model, in seconds: the best of several rounds.

    The models take turns, so that what else the machine does befalls all alike.
    """
    rounds = [[asyncio.run(_cpu_of_calls(model)) for model in models] for _ in range(ROUNDS)]
    return [min(times) for times in zip(*rounds, strict=True)]


def main() -> None:
    """Measure and print."""
    bare_start, help_start = start_seconds("pass"), start_seconds(_HELP)
    print(f"python -c pass   {bare_start:.3f} s   best of {STARTS}")
    print(f"cotune --help    {help_start:.3f} s   {help_start / bare_start:.1f} times that")
    bare, ours = call_seconds(_bare(), _ours())
    print(f"dspy.LM          {bare * 1e6:.0f} µs CPU per call   best of {ROUNDS} × {CALLS} calls")
    print(f"LanguageModel    {ours * 1e6:.0f} µs CPU per call   {(ours - bare) * 1e6:+.0f} µs")


def _timed(code: str) -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


async def _cpu_of_calls(model: dspy.LM) -> float:
    requests = list(_requests(model.model))
    started = time.process_time()
    for request in requests:
        await model.acall(request)
    return (time.process_time() - started) / CALLS


def _requests(model: str) -> Iterator[Request]:
    for number in range(CALLS):
        messages = [
            {"role": "system", "content": "Choose the agent that answers the message."},
            {"role": "user", "content": f"Two litres of milk, please. ({number})"},
        ]
        yield request_from_openai_chat({"model": model, "messages": messages})


def _bare() -> dspy.LM:
    engine = ScriptedEngine.parse("grocery")
    return dspy.LM(
        "scripted/grocery", engine=engine, async_engine=AsyncScriptedEngine(engine), cache=False
    )


def _ours() -> LanguageModel:
    budget = Budget(Limits(rollouts=1, tokens=10**12, usd=1e6))
    settings = ModelSettings(model="scripted:grocery")
    return LanguageModel(settings, Role.TASK, Ledger(), budget)


if __name__ == "__main__":
    main()
