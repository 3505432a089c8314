"""Makes `scenarios.jsonl` anew: `python -m cotune.simulation.grocery`."""

from __future__ import annotations

from ..scenario_file import PACKS, write_scenarios
from .generate import generate

if __name__ == "__main__":
    path = PACKS["grocery"]
    scenarios = list(generate())
    write_scenarios(path, scenarios)
    print(f"{len(scenarios)} scenarios written to {path}")
