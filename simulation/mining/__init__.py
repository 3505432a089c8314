"""Scenarios proposed from conversations that were recorded, for a person to edit."""
