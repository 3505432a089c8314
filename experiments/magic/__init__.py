"""The paper's comparison: agents improved alone, the whole assistant together, and both."""
