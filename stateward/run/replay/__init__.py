"""Replay: a recorded run is played again from its checkpoints and its journal, without a tool or a model."""
