"""The configurations to start from, which come with cotune."""

from __future__ import annotations

from pathlib import Path

_FOLDER = Path(__file__).parent.parent / "starter"
STARTER = _FOLDER / "cotune.yaml"
SYSTEM_STARTER = _FOLDER / "system.yaml"
SMALL_SYSTEM_STARTER = _FOLDER / "system-small.yaml"
