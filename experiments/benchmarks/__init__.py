"""Benchmarks: what cotune itself costs, measured by `python -m`."""
