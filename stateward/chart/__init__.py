"""What may happen: a pure statechart kernel over frozen tables, without clock, ids, I/O or LangGraph."""
