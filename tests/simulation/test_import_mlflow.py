"""Traces that MLflow itself wrote become conversations, one per session."""

from __future__ import annotations

import importlib
import shutil
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cotune.agents.assistant import AgentCall, ToolCall
from cotune.agents.errors import CotuneError, Fault, FaultOrigin, UsageError
from cotune.simulation.importers import mlflow_traces
from cotune.simulation.importers.importer import Imported
from cotune.simulation.importers.spoken_text import answered, asked
from cotune.simulation.trajectory import StopReason

SECOND = 1_000_000_000


@dataclass(frozen=True)
class Step:
    """A span below the root, and what is below it."""

    type: str
    name: str
    inputs: Any = None
    outputs: Any = None
    inside: tuple[Step, ...] = ()
    error: str = ""


@dataclass
class Store:
    """A tracking database with one experiment."""

    uri: str
    experiment: str
    experiment_id: str
    clock: int = SECOND

    def trace(
        self,
        inputs: Any,
        outputs: Any = None,
        *steps: Step,
        session: str | None = None,
        root: tuple[str, str] = ("CHAIN", "shop"),
        error: str = "",
    ) -> None:
        """Have MLflow write a trace, each span a second after the one before."""
        metadata = {"mlflow.trace.session": session} if session else {}
        self._span(Step(*root, inputs, outputs, steps, error), None, metadata)

    def _span(self, step: Step, parent: Any, metadata: dict[str, str]) -> None:
        import mlflow

        span = mlflow.start_span_no_context(
            step.name,
            span_type=step.type,
            parent_span=parent,
            inputs=step.inputs,
            metadata=metadata or None,
            experiment_id=None if parent else self.experiment_id,
            start_time_ns=self._tick(),
        )
        for inner in step.inside:
            self._span(inner, span, {})
        if step.error:
            span.record_exception(ValueError(step.error))
        span.end(
            outputs=step.outputs,
            status="ERROR" if step.error else "OK",
            end_time_ns=self._tick(),
        )

    def _tick(self) -> int:
        self.clock += SECOND
        return self.clock


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory, mlflow_tables: Path) -> Iterator[str]:
    """A tracking database."""
    path = tmp_path_factory.mktemp("mlflow") / "mlflow.db"
    uri = f"sqlite:///{shutil.copy(mlflow_tables, path)}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
        patch.setenv("MLFLOW_ENABLE_ASYNC_TRACE_LOGGING", "false")
        import mlflow

        with warnings.catch_warnings(action="ignore"):  # MLflow warns of itself when it loads this
            importlib.import_module("mlflow.pyfunc")
        before = mlflow.get_tracking_uri()
        mlflow.set_tracking_uri(uri)
        yield uri
        mlflow.set_tracking_uri(before)


@pytest.fixture
def store(database: str, request: pytest.FixtureRequest) -> Store:
    import mlflow

    name = request.node.name
    return Store(database, name, mlflow.MlflowClient().create_experiment(name))


def refusals(imported: Imported) -> list[str]:
    return [str(refused) for refused in imported.refused]


def test_a_session_is_a_conversation_with_the_calls_of_every_turn(store: Store) -> None:
    find = Step("TOOL", "find", {"tea": "green"}, [{"id": 7}])
    model = Step("CHAT_MODEL", "gpt", {"messages": []}, {"text": "look"})
    store.trace(
        {"message": "Tea?"},
        {"reply": "Green."},
        Step("AGENT", "finder", {"wish": "tea"}, {"found": 7}, (model, find)),
        session="it's s1",
    )
    store.trace({"message": "Hello"}, "Hi.", session="s2")
    store.trace({"message": "Buy it."}, "Bought.", Step("TOOL", "buy", 7, None), session="it's s1")
    imported = mlflow_traces.read(store.experiment)
    tea, hello = imported
    assert imported.refused == []
    assert (tea.scenario, hello.scenario) == ("it's s1", "s2")
    assert [(turn.message, turn.reply.text) for turn in tea.turns] == [
        ("Tea?", "Green."),
        ("Buy it.", "Bought."),
    ]
    assert tea.turns[0].reply.calls == (
        AgentCall("finder", {"wish": "tea"}, {"found": 7}),
        ToolCall("find", "finder", {"tea": "green"}, [{"id": 7}]),
    )
    assert tea.turns[1].reply.calls == (ToolCall("buy", "assistant", {"input": 7}, None),)
    assert tea.stop is StopReason.OPEN
    assert tea.metadata["source"] == "mlflow"
    assert len(tea.metadata["traces"]) == 2
    assert tea.metadata["missing"] == ["state", "stop"]
    assert hello.metadata["missing"] == ["state", "agents", "stop"]


def test_turns_are_in_the_order_in_which_they_began(store: Store) -> None:
    store.clock = 100 * SECOND
    store.trace("second", "b", session="s")
    store.clock = 10 * SECOND
    store.trace("first", "a", session="s")
    (trajectory,) = mlflow_traces.read(store.experiment)
    assert [turn.message for turn in trajectory.turns] == ["first", "second"]


def test_a_trace_without_a_session_is_a_conversation_of_one_turn(store: Store) -> None:
    store.trace("one", "1")
    store.trace("two", "2")
    one, two = mlflow_traces.read(store.experiment)
    assert [one.scenario] == one.metadata["traces"]
    assert [turn.message for turn in (*one.turns, *two.turns)] == ["one", "two"]


def test_model_calls_outside_agents_belong_to_the_assistant(store: Store) -> None:
    inner = Step("CHAT_MODEL", "gpt", {"n": 2}, "raw")
    outer = Step("LLM", "predict", {"n": 1}, "cooked", (inner,))
    retrieval = Step("RETRIEVER", "index", {}, [], (Step("TOOL", "grep", {}, 1),))
    store.trace("q", "a", outer, retrieval, root=("AGENT", "clerk"))
    store.trace("q", "a", root=("LLM", "gpt"))
    clerk, bare = mlflow_traces.read(store.experiment)
    assert clerk.turns[0].reply.calls == (
        AgentCall("clerk", {"n": 1}, {"output": "cooked"}),
        ToolCall("grep", "clerk", {}, 1),
    )
    assert bare.turns[0].reply.calls == (AgentCall("assistant", {"input": "q"}, {"output": "a"}),)


def test_tools_called_twice_keep_their_name_and_refusals_are_errors(store: Store) -> None:
    bad = Step("TOOL", "buy", {"id": 9}, error="no such tea")
    store.trace("buy", "Sorry.", bad, Step("TOOL", "buy", {"id": 7}, "ok"))
    (trajectory,) = mlflow_traces.read(store.experiment)
    first, second = (call for _, call in trajectory.tool_calls())
    assert (first.tool, second.tool) == ("buy", "buy")
    assert "no such tea" in first.error
    assert second.error == ""


def test_a_conversation_that_broke_is_a_fault_and_no_short_success(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_API_KEY", "sk-very-secret")
    store.trace("hello", "hi", session="s")
    store.trace("tea?", None, session="s", error="refused: key sk-very-secret is expired")
    (trajectory,) = mlflow_traces.read(store.experiment)
    assert trajectory.stop is StopReason.FAULT
    assert len(trajectory.turns) == 1
    assert trajectory.metadata["unanswered"] == "tea?"
    assert isinstance(trajectory.fault, Fault)
    assert trajectory.fault.origin is FaultOrigin.INFRASTRUCTURE
    assert "key *** is expired" in trajectory.fault.message


def test_an_empty_reply_in_between_is_kept_and_said_to_be_missing(store: Store) -> None:
    store.trace("hello", None, session="s", error="boom")
    store.trace("hello?", "hi", session="s")
    (trajectory,) = mlflow_traces.read(store.experiment)
    assert [turn.reply.text for turn in trajectory.turns] == ["", "hi"]
    assert trajectory.fault is None
    assert "reply" in trajectory.metadata["missing"]


def test_a_session_without_a_customer_message_is_refused_and_the_rest_is_loaded(
    store: Store,
) -> None:
    store.trace({"message": "hello"}, "hi", session="bad")
    store.trace({"numbers": [1, 2]}, "3", session="bad")
    store.trace({"message": "hello"}, "hi", session="good")
    imported = mlflow_traces.read(store.experiment)
    assert [trajectory.scenario for trajectory in imported] == ["good"]
    (reason,) = refusals(imported)
    assert reason.startswith("session 1: 'bad': the trace tr-")
    assert "has no customer message in the inputs of its root span 'shop'" in reason


def test_a_trace_that_is_not_whole_costs_its_session_only(store: Store) -> None:
    import mlflow

    root = mlflow.start_span_no_context(
        "shop",
        inputs="hello",
        experiment_id=store.experiment_id,
        metadata={"mlflow.trace.session": "bad"},
    )
    mlflow.start_span_no_context("never ended", parent_span=root)
    root.end(outputs="hi")
    store.trace("hello", "hi", session="good")
    imported = mlflow_traces.read(store.experiment)
    assert [trajectory.scenario for trajectory in imported] == ["good"]
    (reason,) = refusals(imported)
    assert "is not whole: " in reason


def test_a_uri_gives_every_experiment_page_by_page(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mlflow_traces, "_PAGE", 2)
    for number in range(5):
        store.trace(f"message {number}", "ok", session=f"{store.experiment}-{number}")
    scenarios = [trajectory.scenario for trajectory in mlflow_traces.read(store.uri)]
    ours = [name for name in scenarios if name.startswith(store.experiment)]
    assert ours == [f"{store.experiment}-{number}" for number in range(5)]


def test_an_unknown_experiment_is_a_usage_error(store: Store) -> None:
    with pytest.raises(UsageError, match="no experiment 'no such thing'"):
        mlflow_traces.read("no such thing")


def test_a_missing_database_is_a_usage_error_and_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="There is no MLflow database"):
        mlflow_traces.read(f"sqlite:///{tmp_path}/none.db")
    assert list(tmp_path.iterdir()) == []


def test_a_store_that_mlflow_cannot_read_is_one_message(tmp_path: Path) -> None:
    (tmp_path / "broken.db").write_bytes(b"no database" * 100)
    with pytest.raises(CotuneError, match="cannot be read from MLflow"):
        mlflow_traces.read(f"sqlite:///{tmp_path}/broken.db")


CHAT = [
    {"role": "system", "content": "sell"},
    {"role": "user", "content": "first"},
    {"role": "assistant", "content": "yes?"},
    {"role": "user", "content": [{"type": "input_text", "text": "last"}, {"type": "image"}]},
]


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        (" hi ", "hi"),
        ({"message": "hi", "user": "x"}, "hi"),
        ({"anything": "hi", "count": 3}, "hi"),
        ({"request": {"query": "hi"}}, "hi"),
        ({"messages": CHAT, "model": "m"}, "last"),
        ({"input": CHAT}, "last"),
        (CHAT, "last"),
        ({"a": "x", "b": "y"}, ""),
        ({"messages": [{"role": "assistant", "content": "hi"}]}, ""),
        ({"messages": [None, 3]}, ""),
        (None, ""),
        (7, ""),
    ],
)
def test_the_customers_message_is_found_in_the_usual_shapes(inputs: Any, message: str) -> None:
    assert asked(inputs) == message


@pytest.mark.parametrize(
    ("outputs", "reply"),
    [
        ("hi", "hi"),
        ({"choices": [{"message": {"role": "assistant", "content": "hi"}}]}, "hi"),
        ({"output": [{"role": "assistant", "content": [{"text": "hi"}]}]}, "hi"),
        ({"messages": [*CHAT, {"role": "assistant", "content": "hi"}]}, "hi"),
        ({"reply": "hi", "state": "done"}, "hi"),
        ({"response": {"content": "hi"}}, "hi"),
        ({"content": None}, ""),
    ],
)
def test_the_reply_is_found_in_the_usual_shapes(outputs: Any, reply: str) -> None:
    assert answered(outputs) == reply
