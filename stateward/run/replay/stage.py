"""The world of a replay: a database in memory, to which answers, events and raised limits come as they came then."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from stateward.errors import StatewardError
from stateward.run.replay.divergence import Difference
from stateward.run.replay.past import take_over
from stateward.run.replay.recording import Moment
from stateward.run.replay.score import PlayOver, Score
from stateward.run.resume import opened
from stateward.run.store.database import Database
from stateward.run.store.given import Given


class RecordedClock:
    """Tells the time of the record.

    Args:
        score: The record.
    """

    def __init__(self, score: Score) -> None:
        self._score = score

    def now(self) -> float:
        """Return the moment of the recorded step, in seconds since the epoch."""
        return self._score.now

    def monotonic(self) -> float:
        """Return the same: nothing in a replay is measured."""
        return self._score.now


class Stage:
    """What stands around the chart in a replay.

    Args:
        score: The record.
        database: The replay's own.
    """

    def __init__(self, score: Score, database: Database) -> None:
        self.score = score
        self.resumed = False
        """Whether the present wait is being resumed."""
        self.context = ""
        """The digest of the context of the present call."""
        self._database = database
        self._asks = {ask.id: ask for ask in score.recording.asks}
        self._letters = {letter.no: letter for letter in score.recording.letters}
        self._posted = 0
        self._raises = list(_raises(score.recording.notes))

    def begin(self) -> None:
        """Make the session known."""
        recording, leases = self.score.recording, self._database.leases
        leases.release(leases.acquire(recording.session, graph=recording.graph, tenant=recording.tenant))

    def put(self, moment: Moment) -> None:
        """Set the stage where somebody from outside has put the run.

        Args:
            moment: Where.
        """
        take_over(self.score, moment, database=self._database)
        self._raise_limits()

    def _raise_limits(self) -> None:
        """Raise the limits that were raised when the fuses that have tripped by now had tripped."""
        if not self._raises:
            return
        recording = self.score.recording
        tripped = {_call(row.record) for row in self._database.audit.rows(recording.session) if _is_fuse(row.record)}
        while self._raises and (self._raises[0][0] is None or self._raises[0][0] in tripped):
            _, note = self._raises.pop(0)
            limit = (note["scope"], note["unit"], note["value"], note["by"], note["reason"])
            self._database.ledger.raise_limit(recording.session, recording.run, *limit)

    def set(self, values: Mapping[str, Any]) -> None:
        """Set the stage for the next step: its node is about to run.

        Args:
            values: The state's values, with the control channel.

        Raises:
            PlayOver: The replay stands elsewhere than the record, or in the record nothing more was done here.
        """
        score = self.score
        score.arrive(values)
        expected = score.expected
        if expected is None or expected.source != "step":
            if score.present.control["status"] == "running":
                raise PlayOver
            return
        if score.present.resumed and not self.resumed:
            return  # it waits here, and finds nothing
        if expected.context != self.context:
            raise PlayOver  # the record went on in another call, with a context of its own
        self.resumed = False
        score.now = expected.last.get("now", score.now)
        self._post(expected)
        self._answer(expected)
        self._raise_limits()

    def _post(self, expected: Moment) -> None:
        """Put the letters into the mailbox that the step looks at; of all others only the numbers are kept."""
        looked: Mapping[str, Iterable[int]] = expected.last.get("letters") or {}
        wanted = sorted(no for several in looked.values() for no in several)
        session, mailbox = self.score.recording.session, self._database.mailbox
        for no in range(self._posted + 1, wanted[-1] + 1 if wanted else 0):
            letter = self._letters.get(no) if no in wanted else None
            posted = mailbox.post(session, letter.event if letter else "", letter.data if letter else None)
            if letter is None:
                mailbox.refuse(session, posted.no, at="", note="")
        self._posted = max([self._posted, *wanted])

    def _answer(self, expected: Moment) -> None:
        """Give the answers that the step finds."""
        present = self.score.present
        asks: Mapping[str, list[str]] = present.control.get("asks") or {}
        if present.resumed:
            payload, _ = opened(present.payload)
            form = cast("Mapping[str, Any]", payload if isinstance(payload, Mapping) else {})
            self._give(form.get("answered", ()), most=1)
        if expected.last.get("event") == "answer":
            left: Mapping[str, object] = expected.control.get("asks") or {}
            self._give(ask for path, ids in asks.items() if path not in left for ask in ids)

    def _give(self, ids: Iterable[str], *, most: int | None = None) -> None:
        """Give the recorded answers that an ask has not got yet, not more than so many of each."""
        for id in ids:
            known, here = self._asks.get(id), self._database.asks.find(id)
            if known is not None and known.status == "expired":
                self._database.asks.expire(known.session, id)
            if known is None or known.decision is None or here is None or here.status != "open":
                continue
            for given in known.answers[len(here.answers) :][:most]:
                self._say(id, given)

    def _say(self, id: str, given: Given) -> None:
        edit: Mapping[str, Any] = {"tool": given.tool, "arguments": given.arguments, "value": given.value}
        try:
            self._database.asks.answer(id, decision=given.decision, by=given.by, note=given.note, **edit)
        except StatewardError as refused:
            told = f"`{given.decision}` by `{given.by}`"
            self.score.differ(Difference(what=f"answer to `{id}`", recorded=told, came=str(refused)))
            raise PlayOver from refused


_Call = tuple[Any, ...]


def _raises(notes: Iterable[Mapping[str, Any]]) -> Iterable[tuple[_Call | None, Mapping[str, Any]]]:
    """Say for each raised limit which call a fuse had stopped last before it was raised; None for no call."""
    stopped: _Call | None = None
    for note in notes:
        if _is_fuse(note):
            stopped = _call(note)
        elif note.get("event") == "limit":
            yield stopped, note


def _is_fuse(note: Mapping[str, Any]) -> bool:
    return note.get("event") == "fuse"


def _call(note: Mapping[str, Any]) -> _Call:
    return note["path"], note["activation"], note["call"]
