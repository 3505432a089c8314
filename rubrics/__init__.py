"""How a trajectory is scored: rubrics, checks, verdicts and the statistics of scores."""
