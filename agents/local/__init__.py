"""The embedded model: a small language model that runs on this computer."""
