"""What a block takes for the superstate that it is."""

from __future__ import annotations

from typing import Any

from typing_extensions import TypedDict

from stateward.chart.signature import Actions
from stateward.chart.state import HistoryKind
from stateward.chart.transition import Choices, Reactions


class Around(TypedDict, total=False):
    """As for `Superstate`."""

    history: HistoryKind | None
    """What `History(NAME)` leads back to; None for nothing."""
    on: Reactions[Any]
    """What events do here."""
    always: Choices[Any]
    """What is tested after every step."""
    entry: Actions[Any]
    """Actions on the way in."""
    exit: Actions[Any]
    """Actions on the way out."""
    policy: object
    """The policy that binds all of it."""
