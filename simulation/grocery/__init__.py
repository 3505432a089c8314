"""Scenarios for the grocery assistant: their specification, and how they are made and checked."""
