"""Judges: what decides the criteria that no check can decide."""
