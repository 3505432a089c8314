"""Paths under which the tests of adapters run."""

from __future__ import annotations

import sys
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[3]

# `python -m pytest` puts the repository's root on the path, and there `agents` is a folder of
# ours, not the OpenAI Agents SDK.
sys.path[:] = [place for place in sys.path if Path(place).resolve() != _ROOT]
