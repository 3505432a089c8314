"""cotune: improve the prompts of multi-agent assistants."""

__version__ = "0.1.0"
