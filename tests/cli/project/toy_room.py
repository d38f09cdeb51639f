"""A room that waits; overrides say what its state and its key are called, as a new definition would."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from typing_extensions import TypedDict

import stateward as sw


def build(*, overrides: Sequence[str] = ()) -> Any:
    """Make the graph, with `state=NAME` and `key=NAME` for other names."""
    names = {"state": "OPEN", "key": "guest", **dict(word.split("=", 1) for word in overrides)}
    schema: Any = TypedDict("Room", {names["key"]: str}, total=False)
    state = sw.State(names["state"], on=[sw.on("end", "DONE")])
    return sw.Chart("toy_room", schema, state, sw.Final("DONE")).compile()


graph = build()
