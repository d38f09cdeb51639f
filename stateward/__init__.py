"""Stateward: a statechart layer for LangGraph."""
