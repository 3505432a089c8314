"""Conversations of an airline, as they come out of an import, and the rubric its people wrote."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cotune.agents.assistant import AgentCall, Reply, ToolCall
from cotune.agents.errors import Fault, FaultOrigin
from cotune.simulation.trajectory import StopReason, Trajectory, Turn
from cotune.simulation.trajectory_file import write_trajectories

AIRLINE = Path(__file__).parent / "airline"
RUBRIC = AIRLINE / "airline.yaml"
OWN = Fault(FaultOrigin.ASSISTANT, "invalid_json", "no answer after 3 attempts")
BUSY = Fault(FaultOrigin.PROVIDER, "rate_limit", "too many requests")


def log(number: int, reward: float, *, error: str = "", fault: Fault | None = None) -> Trajectory:
    """Return a conversation about one booking; `error` is what the tool refused."""
    calls = (
        AgentCall("assistant", {}, {"thought": "Book it."}),
        ToolCall("book", "assistant", {"flight": number}, None if error else "booked", error),
    )
    turns = (
        Turn(f"Book flight {number}, please.", Reply("It is booked.", calls), {}),
        Turn("Thanks.", Reply("You are welcome."), {}),
    )
    about = {"source": "tau-bench", "reward": reward, "goal": f"Flight {number}.", "missing": []}
    return Trajectory(f"task-{number}", turns, {}, StopReason.SATISFIED, fault, about)


def write_logs(path: Path, rewards: Sequence[float]) -> Path:
    """Write a conversation for each reward."""
    write_trajectories(path, (log(number, reward) for number, reward in enumerate(rewards)))
    return path
