"""Making it happen: charts as LangGraph graphs, their sessions, and the door to tools and models."""
