"""Kinds of simulated customers, one file each."""
