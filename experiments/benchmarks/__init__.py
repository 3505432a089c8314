"""Benchmarks: each prints ratios measured in one run; no test asserts a time."""
