"""Stateward: a statechart layer for LangGraph.

Agents are states inside states, policies hang on the states and bind everything inside them, and every model and tool
call goes through one governed door. The idiom is `import stateward as sw`.
"""

from stateward.chart.delay import Delayed
from stateward.chart.event import Event
from stateward.chart.state import Final, Parallel, State, Superstate
from stateward.chart.transition import History, after, on, when
from stateward.config import load_policy
from stateward.machine import Chart
from stateward.opening import open_database as open  # `stateward.open(url)` is the public name
from stateward.run.context import Run, SyncRun
from stateward.run.current import current_run
from stateward.run.door.role import ModelRole
from stateward.run.door.tool import ToolContext, ToolResult, tool
from stateward.run.graph import ChartGraph
from stateward.run.messages import Messages
from stateward.run.plan import Gate
from stateward.run.session import Session
from stateward.run.update import Update

__all__ = [
    "Chart",
    "ChartGraph",
    "Delayed",
    "Event",
    "Final",
    "Gate",
    "History",
    "Messages",
    "ModelRole",
    "Parallel",
    "Run",
    "Session",
    "State",
    "Superstate",
    "SyncRun",
    "ToolContext",
    "ToolResult",
    "Update",
    "after",
    "current_run",
    "load_policy",
    "on",
    "open",
    "tool",
    "when",
]
