"""What a DSPy program does in a turn, seen through DSPy's own callbacks."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import Any, Self

import dspy
from dspy.utils.callback import ACTIVE_CALL_ID, BaseCallback
from dspy.utils.usage_tracker import UsageTracker

from ..assistant import AgentCall, ToolCall
from ..errors import CotuneError
from ..recording import as_json, note
from .adapter import Means
from .outage import outage_of
from .usage import record_usage

_SETTINGS = frozenset({"signature", "demos", "config", "lm"})
_FINISH = "finish"  # dspy's ReAct ends with a tool of this name that does nothing


@dataclass(slots=True)
class _Open:
    """A module's, model's or tool's call that is under way.

    Attributes:
        parent: Id of the call inside which it was made.
        agent: The agent, where it is a predictor.
        inputs: What it was given.
        last: The agent that answered last inside, or that chose the tool.
        tool: The tool, where it is one.
    """

    parent: str | None
    agent: str = ""
    inputs: Any = None
    last: str = ""
    tool: str = ""


@dataclass(slots=True)
class _Predictors:
    """A program's predictors; also their copies are known, which modules make of them."""

    by_id: dict[int, str]
    by_stage: dict[str, str]

    @classmethod
    def of(cls, predictors: Mapping[str, dspy.Predict]) -> Self:
        return cls(
            {id(predictor): agent for agent, predictor in predictors.items()},
            {predictor.stage: agent for agent, predictor in predictors.items()},
        )

    def agent(self, predictor: dspy.Predict) -> str:
        known = self.by_id.get(id(predictor))
        return known or self.by_stage.get(predictor.stage, "")


class DspyRecorder(BaseCallback):
    """Writes down one turn's calls of predictors and tools, from whatever thread.

    Attributes:
        broken: What failed in a tool although it is not the tool's fault: DSPy's agents take
            any exception for something the tool says.
    """

    def __init__(self, predictors: Mapping[str, dspy.Predict]) -> None:
        self._predictors = _Predictors.of(predictors)
        self._open: dict[str, _Open] = {}
        self._turn = copy_context()
        self.broken: BaseException | None = None

    def agent_at_work(self) -> str:
        """Return the agent inside whose call this is asked; empty outside of all."""
        return next((call.agent for call in self._enclosing() if call.agent), "")

    def on_module_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        """See `BaseCallback`."""
        agent = self._predictors.agent(instance) if isinstance(instance, dspy.Predict) else ""
        self._open[call_id] = _Open(ACTIVE_CALL_ID.get(), agent, inputs.get("kwargs", inputs))

    def on_module_end(
        self, call_id: str, outputs: Any | None, exception: BaseException | None = None
    ) -> None:
        """See `BaseCallback`."""
        call = self._open[call_id]
        if call.agent:
            given = {name: value for name, value in call.inputs.items() if name not in _SETTINGS}
            returned = dict(outputs.items()) if isinstance(outputs, dspy.Prediction) else {}
            self._note(AgentCall(call.agent, as_json(given), as_json(returned)))
            for enclosing in self._enclosing():
                enclosing.last = call.agent
        del self._open[call_id]

    def on_lm_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        """See `BaseCallback`."""
        self._open[call_id] = _Open(ACTIVE_CALL_ID.get())

    def on_lm_end(
        self, call_id: str, outputs: Any | None, exception: BaseException | None = None
    ) -> None:
        """See `BaseCallback`."""
        del self._open[call_id]

    def on_tool_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        """See `BaseCallback`."""
        agent = next((call.last for call in self._enclosing() if call.last), "")
        tool = "" if instance.name == _FINISH and not instance.args else instance.name
        given = inputs.get("kwargs", inputs)
        self._open[call_id] = _Open(ACTIVE_CALL_ID.get(), "", given, agent, tool)

    def on_tool_end(
        self, call_id: str, outputs: Any | None, exception: BaseException | None = None
    ) -> None:
        """See `BaseCallback`."""
        call = self._open.pop(call_id)
        if isinstance(exception, CotuneError) or (exception and outage_of(exception)):
            self.broken = self.broken or exception
        if call.tool:
            error = "" if exception is None else str(exception) or type(exception).__name__
            arguments, result = as_json(call.inputs), as_json(outputs)
            self._note(ToolCall(call.tool, call.last, arguments, result, error))

    def _enclosing(self) -> Iterator[_Open]:
        """Yield the calls inside which this is asked, the innermost first."""
        call_id = ACTIVE_CALL_ID.get()
        while call_id is not None and call_id in self._open:
            call = self._open[call_id]
            yield call
            call_id = call.parent

    def _note(self, call: AgentCall | ToolCall) -> None:
        # A thread of the program's own knows nothing of the turn it works for.
        self._turn.copy().run(note, call)


@dataclass
class DspyUsage(UsageTracker):
    """Puts on the ledger what the program's own models use."""

    means: Means
    recorder: DspyRecorder
    turn: Any = field(default_factory=copy_context)
    started: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        super().__init__()

    def __deepcopy__(self, memo: object) -> Self:
        """Stay one, also where dspy runs in parallel: nothing may be lost."""
        return self

    def add_usage(self, lm: str, usage_entry: dict[str, Any]) -> None:
        """Record the usage of one call."""
        agent = self.recorder.agent_at_work()
        read, written = usage_entry.get("prompt_tokens"), usage_entry.get("completion_tokens")
        self.turn.copy().run(record_usage, self.means, agent, lm, read, written)
