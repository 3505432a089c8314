"""Small runs of the system task on the simulation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

CONFIG: dict[str, Any] = {
    "system": {
        "rubric": "magic",
        "split": {"shares": {"train": 0.4, "val": 0.3, "test": 0.3}},
        "use": {"train": 24, "val": 8, "test": 16},
    },
    "simulation": {"scenarios": "grocery", "conversation": {"turns": 8}},
    "models": {"task": {"model": "scripted:grocery"}},
    "limits": {"rollouts": 150},
    "seed": 3,
    "search": {"minibatch": 8, "patience": 2, "acceptance": "race"},
    "selection": {"finalists": 1},
}

SMALL: dict[str, Any] = {
    "system": {**CONFIG["system"], "use": {"train": 12, "val": 6, "test": 6}},
    "limits": {"rollouts": 70},
}
"""What to change where it does not matter how much is played."""


def write_config(folder: Path, **changes: Any) -> Path:
    """Write the configuration, with whole values at the top level changed."""
    path = folder / "system.yaml"
    config = {**CONFIG, "out": str(folder / "cotune-runs"), **changes}
    path.write_text(yaml.safe_dump(config, sort_keys=False), encoding="utf-8")
    return path


def typed(config: Path, *more: object) -> tuple[object, ...]:
    """Return the command that runs it, untracked."""
    return ("optimize", "system", "--config", config, "--no-track", *more)
