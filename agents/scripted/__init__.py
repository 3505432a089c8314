"""A simulation of a language model, for tests and the tour; it is never a language model.

It reads what a language model would be sent, and answers by rules: `engine` is the door,
`instructions` reads the prompt, `behaviours/` holds one simulated agent per output schema,
`faults` and `slips` make it fail and err as providers and models do.
"""
