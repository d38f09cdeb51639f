"""Notebooks that tell what Stateward does, and `notebooks.execute`, which runs them again."""
