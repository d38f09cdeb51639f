"""The one governed way from an activity to a tool or a model."""
