"""Four ways to hold the same conversations: four turns, and two agents asked in each.

A way takes the address of a server and how many conversations to hold at a time; what it takes
to begin is over when it gives a function that holds so many of them.
"""

from __future__ import annotations

import asyncio
import io
import itertools
import os
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, contextmanager, redirect_stderr
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import dspy
from dspy.lm15 import Request

from ...agents.budget import Budget, Limits
from ...agents.compact_adapter import build_request
from ...agents.grocery.signatures import AGENTS
from ...agents.ledger import Ledger, Role
from ...agents.lm import LanguageModel
from ...agents.models import ModelSettings
from ...simulation.conversation import ConversationLimits
from ...simulation.engines.in_process import InProcess
from ...simulation.journal import Journal
from ...simulation.player import Player
from ...simulation.scenario import Scenario
from ...simulation.simulator import Simulator
from ...simulation.users.fixed import FixedUsers
from ...simulation.work import Work
from .pair_assistant import MESSAGES, PairAssistant, for_responder, seed_prompts

MODEL = "openai/gpt-4.1-mini"
SCENARIO = Scenario(id="groceries", family="benchmark", goal="some groceries")
_SETTINGS = {"temperature": 0.0, "max_tokens": 512}

Hold = Callable[[int], object]
Way = Callable[[str, int], AbstractContextManager[Hold]]


@contextmanager
def by_cotune(address: str, concurrency: int) -> Iterator[Hold]:
    """Hold them with cotune, as a run does: with a budget, a ledger and a journal on disk."""
    settings = ModelSettings(model=MODEL, api_base=address, concurrency=concurrency)
    ledger, budget = Ledger(), Budget(Limits(rollouts=10**9, tokens=10**12, usd=1e6))
    lm = LanguageModel(settings, Role.TASK, ledger, budget)
    assistant = PairAssistant(lm)
    limits = ConversationLimits(turns=len(MESSAGES))
    player = Player(assistant, FixedUsers(MESSAGES), limits, ledger, "benchmark")
    repeats = itertools.count()  # so that no conversation is in the journal already

    def work(count: int) -> list[Work]:
        return [Work(SCENARIO, assistant.prompts, repeat) for repeat in islice(repeats, count)]

    with (
        tempfile.TemporaryDirectory() as folder,
        Journal(Path(folder, "journal.db")) as journal,
        asyncio.Runner() as runner,
    ):
        engine = InProcess(player, concurrency)
        simulator = Simulator(
            engine=engine,
            identity=player.identity,
            journal=journal,
            ledger=ledger,
            budget=budget,
        )
        yield lambda count: runner.run(simulator.run(work(count)))
        runner.run(lm.aclose())


@contextmanager
def by_bare_calls(address: str, concurrency: int) -> Iterator[Hold]:
    """Send the same requests, ready made, with `dspy.LM.acall`, and do nothing else."""
    lm = dspy.LM(MODEL, api_base=address, api_key="none", cache=False, num_retries=0)
    requests = list(_requests())

    async def send_in_turn(waiting: Iterator[int]) -> None:
        for _ in waiting:
            for request in requests:
                await lm.acall(request)

    async def send(count: int) -> None:
        waiting = iter(range(count))
        await asyncio.gather(*(send_in_turn(waiting) for _ in range(concurrency)))

    with dspy.context(disable_history=True), asyncio.Runner() as runner:
        yield lambda count: runner.run(send(count))
        runner.run(lm.aclose())


@contextmanager
def by_thread_pool(address: str, concurrency: int) -> Iterator[Hold]:
    """Call `dspy.Predict` in a pool of threads, a thread for each conversation at a time."""

    def predict_all(_: int) -> None:
        for number, message in enumerate(MESSAGES):
            _predict_turn(lm, message, number)

    with closing(_schema_lm(address)) as lm, ThreadPoolExecutor(concurrency) as pool:
        yield lambda count: list(pool.map(predict_all, range(count)))


@contextmanager
def by_mlflow(address: str, concurrency: int) -> Iterator[Hold]:
    """Hold them with MLflow's `ConversationSimulator`, the agents by `dspy.Predict`.

    Its customer says the fixed messages too. It cannot be kept from asking a model after every
    turn whether the goal was reached, so there are calls beside those of the agents.
    """
    with tempfile.TemporaryDirectory() as folder, _mlflow_asks(address, concurrency):
        import mlflow  # noqa: PLC0415  it reads the environment when imported
        from mlflow.genai import simulators  # noqa: PLC0415

        base: Any = simulators.BaseSimulatedUserAgent  # its decorator hides that it is a class

        class FixedUser(base):
            def generate_message(self, context: Any) -> str:
                return MESSAGES[context.turn]

        before = mlflow.get_tracking_uri()
        mlflow.set_tracking_uri(f"sqlite:///{folder}/mlflow.db")
        lm = _schema_lm(address)

        def predict(messages: list[dict[str, Any]], **_: Any) -> dict[str, Any]:
            said = _predict_turn(lm, messages[-1]["content"], len(messages) // 2)
            return {"choices": [{"message": {"role": "assistant", "content": said}}]}

        yield lambda count: simulators.ConversationSimulator(
            [{"goal": f"some groceries ({number})"} for number in range(count)],
            max_turns=len(MESSAGES),
            user_model=MODEL.replace("/", ":/"),
            user_agent_class=FixedUser,
        ).simulate(predict)
        mlflow.flush_trace_async_logging()
        lm.close()
        mlflow.set_tracking_uri(before)


def _predict_turn(lm: dspy.LM, message: str, exchanges: int) -> str:
    with dspy.context(lm=lm, adapter=dspy.JSONAdapter(), disable_history=True, trace=None):
        _predictor("router")(message=message)
        return _predictor("responder")(**for_responder(message, exchanges)).reply


def _requests() -> Iterator[Request]:
    """Yield what cotune sends in one conversation."""
    for number, message in enumerate(MESSAGES):
        for agent, inputs in (
            ("router", {"message": message}),
            ("responder", for_responder(message, number)),
        ):
            settings = {**_SETTINGS, "seed": number}
            yield build_request(MODEL, settings, _instructed(agent), [], inputs)


@cache
def _instructed(agent: str) -> type[dspy.Signature]:
    return AGENTS[agent].signature.with_instructions(seed_prompts()[agent].text)


@cache
def _predictor(agent: str) -> dspy.Predict:
    return dspy.Predict(_instructed(agent))


class _SchemaLM(dspy.LM):
    """A `dspy.LM` of which dspy believes that it takes a schema, whatever its name is."""

    @property
    def supports_response_schema(self) -> bool:
        return True

    @property
    def supported_params(self) -> set[str]:
        return {*super().supported_params, "response_format"}


def _schema_lm(address: str) -> dspy.LM:
    return _SchemaLM(
        MODEL, api_base=address, api_key="none", cache=False, num_retries=0, **_SETTINGS
    )


@contextmanager
def _mlflow_asks(address: str, concurrency: int) -> Iterator[None]:
    """Let MLflow's simulator ask a server, and be quiet; nothing leaves the machine."""
    settings = {
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
        "MLFLOW_GENAI_SIMULATOR_MAX_WORKERS": str(concurrency),
        "OPENAI_API_KEY": "none",
        "OPENAI_API_BASE": address,
        "MLFLOW_LOGGING_LEVEL": "ERROR",
    }
    before = dict(os.environ)
    os.environ.update(settings)
    try:
        with redirect_stderr(io.StringIO()):  # its progress bars cannot be switched off
            yield
    finally:
        os.environ.clear()
        os.environ.update(before)
