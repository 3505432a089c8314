"""Where conversations are played: one way to run units of work per file."""
