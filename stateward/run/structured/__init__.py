"""Structured output: a model is brought to an output that fits its contract, tier by tier."""
