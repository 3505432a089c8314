"""The agenda customer, who needs no model: `user` is the door, `pursue` and `answers` the rules."""
