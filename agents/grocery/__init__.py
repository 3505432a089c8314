"""The reference assistant: a grocery shop served by seven agents over a small real world."""
