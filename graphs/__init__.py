"""The systems: each module builds one chart, and its last line is the graph that `langgraph.json` names.

The folder has this file for the reason given in `nodes`.
"""
