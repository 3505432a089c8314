"""How the assistant is exercised: scenarios, conversations, trajectories and the journal."""
