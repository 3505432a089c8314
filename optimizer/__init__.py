"""How prompts are improved: one engine on gepa, the tasks it serves, proposers and guards."""
