"""Settings of the engine: how a run searches, chooses and tests."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from ..agents.budget import Limits


class Race(BaseModel):
    """How long a child and its parent are compared on train before it is decided.

    Attributes:
        step: Examples added while it is undecided.
        most: Examples compared at most, the minibatch among them.
        confidence: With which each look must tell the two apart to end the race, one-sided.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    step: int = Field(default=8, ge=1)
    most: int = Field(default=48, ge=2)
    confidence: float = Field(default=0.9, gt=0.5, lt=1)


class NoiseSettings(BaseModel):
    """How the noise of the scores is measured before anything is optimized.

    Attributes:
        examples: Val examples the seed is run on; 0 measures nothing.
        repeats: Rollouts of each.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    examples: int = Field(default=0, ge=0)
    repeats: int = Field(default=2, ge=2)


class Search(BaseModel):
    """How candidates are found.

    Attributes:
        minibatch: Train examples a parent and its child are compared on.
        min_gain: Gain on the minibatch, on the 0 to 1 scale, that a child must exceed.
        patience: Proposals without an accepted child after which the search ends.
        parents: How gepa draws the parent: the newest, or as gepa does.
        frontier: Over what gepa keeps its Pareto front.
        max_prompt_length: Longest allowed prompt, in characters.
        agents: Which agents' prompts a proposal may change: drawn by blame, in turn, or all.
        agents_at_once: How many at most when drawn by blame.
        exploration: Share of draws that ignore the blame, 0 to 1.
        parallel: Proposals an iteration makes at once, each from a minibatch of its own.
        acceptance: `credit` writes a proposal for a fault of each agent and keeps the edits whose
            faults fell; `minibatch` takes or leaves a child by its score on the minibatch, as
            `credit` does where rollouts name no criteria; `race` adds train examples to that while
            it is undecided.
        evidence: From what `credit` learns: `all` train rollouts with the same texts, or those of
            the `minibatch`.
        minibatches: Where `credit` tries an edit: on `telling` examples, on which its fault can
            show, or on `shuffled` ones.
        race: How long it may last.
        val: `full` scores every accepted child on all of val; `part` on a quarter, and only the
            finalists of the selection on all.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    minibatch: int = Field(default=12, ge=2)
    min_gain: float = Field(default=0.0, ge=0, lt=1)
    patience: int = Field(default=6, ge=1)
    parents: Literal["newest", "pareto", "current_best", "epsilon_greedy", "top_k_pareto"] = (
        "pareto"
    )
    frontier: Literal["instance", "objective", "hybrid"] = "instance"
    max_prompt_length: int = Field(default=6000, ge=200)
    agents: Literal["blame", "round_robin", "all"] = "blame"
    agents_at_once: int = Field(default=2, ge=1)
    exploration: float = Field(default=0.1, ge=0, le=1)
    parallel: int = Field(default=1, ge=1, le=16)
    acceptance: Literal["credit", "minibatch", "race"] = "credit"
    evidence: Literal["all", "minibatch"] = "all"
    minibatches: Literal["telling", "shuffled"] = "telling"
    race: Race = Race()
    val: Literal["full", "part"] = "full"


class Selection(BaseModel):
    """How the winner is chosen.

    Attributes:
        finalists: Candidates that are run again.
        order: Which: those that gained most on val in the search, or the `newest`, where each was
            built on the one before and val is scored in part.
        repeats: Fresh rollouts of each val example, for the seed and each finalist.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    finalists: int = Field(default=3, ge=1)
    order: Literal["val", "newest"] = "val"
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
        noise: How it is measured beforehand.
        limits: The budget; a search needs one of rollouts.
        fault_threshold: Share of rollouts lost to faults at which the run pauses.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    limits: Limits = Limits()
    seed: int = Field(default=0, ge=0)
    noise: NoiseSettings = NoiseSettings()
    search: Search = Search()
    selection: Selection = Selection()
    test: HeldOutTest = HeldOutTest()
    fault_threshold: float = Field(default=0.05, ge=0, lt=1)
