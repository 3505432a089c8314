"""Where annotations come from, one file per source."""
