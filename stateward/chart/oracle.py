"""The oracle: in place of data it answers every guard, each way in turn, so that the kernel shows all it can do.

A guard is a pure function of the data, the event and the active states. So as long as no action has run in between, it
says the same again, and so does the same function at another transition; what it says is free only once. A guard of an
`always` transition sees the messages since its source was left, so there only the same source counts as the same guard.
"""

from __future__ import annotations

from collections.abc import Sequence

from stateward.chart.data import News
from stateward.chart.definition import Action, Node, Transition
from stateward.chart.event import Occurrence
from stateward.chart.guard import Active

MOST_SCRIPTS = 2048
"""How many combinations of answers one event is tried with."""

Script = tuple[bool, ...]
"""The first answers of an oracle."""


class TooManyAnswers(Exception):
    """One step of the chart depends on more guards at the same time than can be tried."""


class Oracle:
    """Data whose guards answer by a script, and with no where the script ends.

    Args:
        script: The first answers.
        known: What guards have said already.
    """

    def __init__(self, script: Script, *, known: tuple[tuple[object, bool], ...] = ()) -> None:
        self._script = script
        self._known = dict(known)
        self.acted = False
        """Whether an action has run."""
        self.given: list[bool] = []
        self.answers: list[tuple[int, bool]] = []
        """Transition and verdict of each guard that was asked anew."""

    @property
    def known(self) -> tuple[tuple[object, bool], ...]:
        """What guards said that still holds."""
        return tuple(self._known.items())

    def test(self, transition: Transition, *, event: Occurrence | None, active: Active) -> bool:
        """Answer a guard."""
        guard = transition.guard
        if guard is None:
            return True
        key = (
            _same(guard.fn),
            transition.source if transition.kind == "always" else -1,
            event.name if event and guard.takes("event") else "",
            active() if guard.takes("active") else None,
        )
        if key not in self._known:
            turn = len(self.given)
            answer = turn < len(self._script) and self._script[turn]
            self.given.append(answer)
            self.answers.append((transition.index, answer))
            self._known[key] = answer
        return self._known[key]

    def perform(self, action: Action, *, event: Occurrence | None, active: Active) -> Sequence[News]:
        """Let an action change the data in a way nobody knows: what guards said does not count any more."""
        self.acted = True
        self._known.clear()
        return ()

    def result(self, final: Node, *, event: Occurrence | None, active: Active) -> object:
        """Let a final state have no value."""
        return None

    def delay(self, transition: Transition, *, event: Occurrence | None, active: Active) -> object:
        """Let every timer be due at once: it may come at any time."""
        return 0

    def kept(self) -> None:
        """Keep nothing: nobody asks an oracle again after a step that failed."""

    def put_back(self, kept: object) -> None:
        """Leave it as it is."""

    def others(self, tried: int) -> list[Script]:
        """Return the scripts that answer otherwise for the first time where this one ended.

        Args:
            tried: How long this one's script was.
        """
        return [(*self.given[:place], True) for place in range(tried, len(self.given))]


def _same(fn: object) -> object:
    """Return what two guards have in common that always answer alike; a method is another object at each look."""
    try:
        hash(fn)
    except TypeError:
        return id(fn)
    return fn
