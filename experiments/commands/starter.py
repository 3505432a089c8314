"""The configuration to start from, which comes with cotune."""

from __future__ import annotations

from pathlib import Path

STARTER = Path(__file__).parent.parent / "starter" / "cotune.yaml"
