"""Ways to write a better prompt: with a reflection model, or from lessons without one."""
