"""The events of a session's stream, for those who read it: `session.events(…)`, `session.aevents(…)`.

from stateward.events import CallEnded, Token, to_json

for event in session.events({"question": "…"}):
    print(to_json(event))
"""

from stateward.run.events.event import (
    KINDS,
    Answered,
    Asked,
    CallEnded,
    CallEvent,
    CallStarted,
    Checkpoint,
    Emitted,
    Ended,
    Spent,
    StateEntered,
    StateLeft,
    StreamEvent,
    Token,
)
from stateward.run.events.form import as_part, from_json, to_json

__all__ = [
    "KINDS",
    "Answered",
    "Asked",
    "CallEnded",
    "CallEvent",
    "CallStarted",
    "Checkpoint",
    "Emitted",
    "Ended",
    "Spent",
    "StateEntered",
    "StateLeft",
    "StreamEvent",
    "Token",
    "as_part",
    "from_json",
    "to_json",
]
