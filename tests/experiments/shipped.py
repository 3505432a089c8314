"""Finished runs of an assistant with two agents, whose prompts are taken home."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from cotune.agents.prompts import Prompt, PromptBundle
from cotune.experiments.run_record import RunRecord
from cotune.rubrics.statistics import Conclusion

TASK = "shop"


def bundle(say: str, *agents: str) -> PromptBundle:
    """Return prompts that say something; the one of `search` is the same in every bundle."""
    texts = {"router": f"Route: {say}", "search": "Search.", "teller": f"Tell: {say}"}
    return PromptBundle.of(*(Prompt(name, texts[name]) for name in agents or ("router", "search")))


def shipped(record: RunRecord, prompts: PromptBundle, uri: str, **changes: Any) -> RunRecord:
    """Return a record of a run that found these prompts."""
    winner = record.chosen.model_copy(
        update={"fingerprint": prompts.fingerprint, "prompts": prompts.texts()}
    )
    candidates = tuple(winner if one.number == record.winner else one for one in record.candidates)
    known = {
        "name": f"system-{prompts.fingerprint[:8]}",
        "task": TASK,
        "kind": "system",
        "candidates": candidates,
        "config": {**record.config, "tracking": {"uri": uri, "experiment": "cotune"}},
    }
    return record.model_copy(update={**known, **changes})


def saved(record: RunRecord, runs: Path) -> str:
    """Write a run's folder and return its name."""
    folder = runs / record.name
    folder.mkdir(parents=True, exist_ok=True)
    record.save(folder)
    record.chosen.bundle.save(folder / "prompts")
    return record.name


def not_improved() -> dict[str, Any]:
    """Return what is different about a run whose test saw no difference."""
    return {"conclusion": Conclusion.NO_EVIDENCE}


def less_safe(record: RunRecord) -> dict[str, Any]:
    """Return what is different about a run whose winner fails more often at what is critical."""
    assert record.held_out is not None
    return {"held_out": replace(record.held_out, deployable=False, safety=("'harmless' failed",))}
