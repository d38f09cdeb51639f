"""The governor: a LangChain middleware that takes every call of somebody's agent through the door."""
