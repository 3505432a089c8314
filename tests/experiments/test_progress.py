"""Progress: plain lines where there is no terminal, a bar where there is."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from cotune.agents.errors import Fault, FaultOrigin
from cotune.agents.ledger import Ledger
from cotune.agents.prompts import Prompt, PromptBundle
from cotune.experiments.progress import RunProgress
from cotune.optimizer.candidate import Candidate, Status
from cotune.optimizer.rollout import Rollout

SEED = PromptBundle.of(Prompt("router", "Route it."))


def _shown(*, terminal: bool) -> tuple[RunProgress, io.StringIO]:
    said = io.StringIO()
    console = Console(file=said, force_terminal=terminal, width=100, color_system=None)
    return RunProgress(console, Ledger()), said


def test_a_line_at_every_tenth_and_none_between() -> None:
    progress, said = _shown(terminal=False)
    with progress:
        progress.step("search", 50)
        for _ in range(50):
            progress.rolled_out(replayed=False, fault=None)
    lines = said.getvalue().splitlines()
    assert lines[0] == "search: at most 50 rollouts"
    assert [line.split(",")[0] for line in lines[1:]] == [
        f"  search: {done} of 50 rollouts" for done in range(5, 51, 5)
    ]


@pytest.mark.parametrize("rollouts", [2, 3])
def test_small_steps_and_more_rollouts_than_planned_are_shown_too(rollouts: int) -> None:
    progress, said = _shown(terminal=False)
    with progress:
        progress.step("test", rollouts)
        for _ in range(rollouts + 1):
            progress.rolled_out(replayed=False, fault=None)
    assert f"{rollouts + 1} of {rollouts} rollouts, at most 0 s left" in said.getvalue()


def test_a_step_that_does_nothing_is_not_shown() -> None:
    progress, said = _shown(terminal=False)
    with progress:
        progress.step("noise", 0)
    assert not said.getvalue()


def test_faults_and_the_best_val_score_are_told_on_the_way() -> None:
    progress, said = _shown(terminal=False)
    with progress:
        progress.step("search", 20)
        fault = Fault(FaultOrigin.JUDGE, "undecided", "too little was said")
        progress.rolled_out(replayed=False, fault=fault)
        progress.considered(
            Candidate(0, SEED, None, Status.SEED, "seed", 0, val=[Rollout("a", 0.5)])
        )
        progress.rolled_out(replayed=False, fault=None)
    assert "$0.00, faults: 1 judge, best val 0.500" in said.getvalue()


def test_replayed_rollouts_and_faults_are_told() -> None:
    progress, said = _shown(terminal=False)
    with progress:
        progress.step("search", 100)
        progress.rolled_out(replayed=True, fault=None)
        fault = Fault(FaultOrigin.PROVIDER, "rate_limit", "too many [bold]requests[/]")
        progress.rolled_out(replayed=True, fault=fault)
    assert "fault (provider, rate_limit): too many [bold]requests[/]" in said.getvalue()
    assert "2 rollouts came from the journal, not paid again." in said.getvalue()


def test_a_terminal_gets_a_bar_and_no_lines() -> None:
    progress, said = _shown(terminal=True)
    with progress:
        progress.step("search", 10)
        for _ in range(10):
            progress.rolled_out(replayed=False, fault=None)
    assert "10/10 rollouts" in said.getvalue()
    assert "at most" not in said.getvalue()


def test_a_candidate_is_told_with_its_reason() -> None:
    progress, said = _shown(terminal=False)
    with progress:
        progress.considered(
            Candidate(0, SEED, None, Status.SEED, "to start [from]", 0, val=[Rollout("a", 0.5)])
        )
    assert said.getvalue() == "  · candidate 0: val 0.500; to start [from]\n"
