"""Adapters: assistants that are written with other frameworks, as cotune talks to them."""
