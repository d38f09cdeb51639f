"""The straight way in: a call that nobody has to be asked about is judged and begun in one transaction.

Most calls are let in and have not been made before. For these it is enough that the journal has no such call, which it
says when the call is written down, and that the run stands well when that is done. Whatever comes out otherwise is left
to the long way (`admission.py`), and nothing is written: it asks, waits, refuses with its reason, answers from the
journal, or finds out what a crash has left.

What is judged under the lock is quick: the arguments were looked at before, and they are not large.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial

from stateward.govern.argument import is_too_large
from stateward.govern.charge import bounds
from stateward.govern.decision import has_standing, is_sound
from stateward.govern.effective import Effective
from stateward.govern.kinds.redaction import Finding
from stateward.govern.rate import Beginning
from stateward.govern.redact import redact
from stateward.govern.request import CallKind, CallRequest, Facts
from stateward.run.door.activation import Activation
from stateward.run.door.time_left import TimeLeft
from stateward.run.door.traffic import Traffic
from stateward.run.store.charges import BILLION, Reservation
from stateward.run.store.database import Database
from stateward.run.store.entry import Fresh
from stateward.run.store.journal import Begun, Entry, Known
from stateward.run.store.standing import Place, Standing

LARGEST = 20_000
"""Arguments that hold more letters and values take the long way, where nobody waits while they are redacted."""


class Straight:
    """Lets the calls of one activation in that nothing stands in the way of.

    Args:
        database: The journal.
        activation: Whose calls these are.
        effective: The folded policy of the state.
        fence: The session's fencing token, or None when nothing is leased.
        traffic: What all calls of the run share in this process.
        time: How long the activation may still take.
        classes: What is taken out of arguments before they are kept.
        kinds: Which calls may go straight: none that are paced, measured, observed or replayed.
    """

    def __init__(
        self,
        *,
        database: Database,
        activation: Activation,
        effective: Effective,
        fence: int | None,
        traffic: Traffic,
        time: TimeLeft,
        classes: Collection[Finding],
        kinds: Collection[CallKind],
    ) -> None:
        self._database = database
        self._activation = activation
        self._effective = effective
        self._fence = fence
        self._traffic = traffic
        self._time = time
        self._classes = classes
        self._kinds = kinds
        self._is_entered_again = False

    def is_open(self, kind: CallKind) -> bool:
        """Tell whether a call may be let in here, so that nobody visits the database for nothing.

        Args:
            kind: Of the call.
        """
        return kind in self._kinds and not self._is_entered_again

    def begun(self, request: CallRequest, entry: Entry) -> Entry | None:
        """Begin a call, if nothing stands in its way; blocking.

        Args:
            request: The call.
            entry: Its entry, not begun.

        Returns:
            Its entry, begun; None when it takes the long way, and nothing was written.
        """
        if not self.is_open(request.kind) or _is_large(request, entry) or self._is_late():
            return None
        if not is_sound(self._effective, request=request):
            return None
        shown = redact(request.arguments, classes=self._classes)
        judge = partial(self._judged, request)
        begun = self._database.journal.admit(entry, judge, arguments=shown, fence=self._fence)
        if not isinstance(begun, Begun):
            # The calls that an activity has made before come first; `resume` tells when the first new one comes.
            self._is_entered_again = isinstance(begun, Known)
            return None
        self._note(begun.entry)
        return begun.entry

    def resume(self) -> None:
        """Note that the journal does not know a call: those that come after it are new as well."""
        self._is_entered_again = False

    def _is_late(self) -> bool:
        left = self._time.left(now=self._database.clock.monotonic())
        return left is not None and left.seconds <= 0

    def _judged(self, request: CallRequest, standing: Standing) -> Sequence[Reservation] | None:
        revoked = self._database.revocations.of(self._activation.session) if standing.is_revoked else ()
        raised = _units(standing.limits) if standing.limits else {}
        facts = Facts(spent=_units(standing.used), raised=raised, revoked=revoked)
        if not has_standing(self._effective, request=request, facts=facts):
            return None
        return [
            Reservation(scope=scope, unit=unit, amount=amount, limit=limit)
            for scope, unit, amount, limit in bounds(self._effective, request=request, raised=raised)
        ]

    def _note(self, begun: Entry) -> None:
        if begun.kind != "ask" and self._traffic.counts(begun.key.session):
            self._traffic.began(begun.key.session, Beginning(kind=begun.kind, path=begun.key.path, at=begun.started_at))


def _is_large(request: CallRequest, entry: Entry) -> bool:
    """Whether the arguments hold too much; they have been written once, which nearly always answers it."""
    if isinstance(entry, Fresh) and entry.size <= LARGEST:
        return False
    return is_too_large(request.arguments, largest=LARGEST)


def _units(amounts: Mapping[Place, int]) -> dict[Place, float]:
    return {place: amount / BILLION for place, amount in amounts.items()}
