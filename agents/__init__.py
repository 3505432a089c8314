"""What is being tuned: prompts, language models, assistants and the reference assistant."""
