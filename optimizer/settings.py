"""Settings of the engine: how a run searches, chooses and tests."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from ..agents.budget import Limits


class Search(BaseModel):
    """How candidates are found.

    Attributes:
        minibatch: Train examples a parent and its child are compared on.
        min_gain: Gain on the minibatch, on the 0 to 1 scale, that a child must exceed.
        patience: Proposals without an accepted child after which the search ends.
        parents: How gepa draws the parent.
        frontier: Over what gepa keeps its Pareto front.
        max_prompt_length: Longest allowed prompt, in characters.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    minibatch: int = Field(default=12, ge=2)
    min_gain: float = Field(default=0.0, ge=0, lt=1)
    patience: int = Field(default=6, ge=1)
    parents: Literal["pareto", "current_best", "epsilon_greedy", "top_k_pareto"] = "pareto"
    frontier: Literal["instance", "objective", "hybrid"] = "instance"
    max_prompt_length: int = Field(default=6000, ge=200)


class Selection(BaseModel):
    """How the winner is chosen.

    Attributes:
        finalists: Best candidates by val score that are run again.
        repeats: Fresh rollouts of each val example, for the seed and each finalist.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    finalists: int = Field(default=3, ge=1)
    repeats: int = Field(default=1, ge=1)


class HeldOutTest(BaseModel):
    """How seed and winner are compared at the end.

    Attributes:
        repeats: Rollouts of each test example per side.
        confidence: Level of the intervals.
        resamples: Bootstrap resamples.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    repeats: int = Field(default=1, ge=1)
    confidence: float = Field(default=0.95, gt=0.5, lt=1)
    resamples: int = Field(default=5000, ge=1000)


class EngineSettings(BaseModel):
    """Everything the engine needs to know beside the task.

    Attributes:
        seed: From which all randomness comes.
        limits: The budget; a search needs one of rollouts.
        fault_threshold: Share of rollouts lost to faults at which the run pauses.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    limits: Limits = Limits()
    seed: int = Field(default=0, ge=0)
    search: Search = Search()
    selection: Selection = Selection()
    test: HeldOutTest = HeldOutTest()
    fault_threshold: float = Field(default=0.05, ge=0, lt=1)
