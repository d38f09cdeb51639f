"""Parallel regions at run time: one node that owns the activities of all regions while several states are active."""
