"""The record while it is played: which step comes next, what its calls came to, and the first difference.

The nodes of the replay, the door and the regions' attention all ask here; who first sees a difference ends the play.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, cast

from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.types import Command

from stateward.errors import Diverged, RunError
from stateward.govern.checks.runtime import RUNTIME
from stateward.govern.revocation import Revocation, read_told
from stateward.govern.verdict import Deny
from stateward.run.checkpoint import CHANNEL, MAIN_BRANCH, Json
from stateward.run.door.outcome import Outcome
from stateward.run.door.waiting import TIMED, TimeKind
from stateward.run.giver import GIVEN
from stateward.run.hub.leaving import STOPPED
from stateward.run.replay.compare import adopted, differences, renamed
from stateward.run.replay.divergence import Difference, Divergence
from stateward.run.replay.recording import Moment, Recording, is_news
from stateward.run.store.ask import Ask
from stateward.run.store.charges import BILLION
from stateward.run.store.entry import CallKey, Entry


class PlayOver(Exception):  # named after what happened, as in errors.py
    """Nothing more is to be played: the record is at its end, or the replay differs from it."""


class Score:
    """One run that is played again; it is the door's script too.

    Args:
        recording: The run.
        serde: The saver's serializer.
    """

    def __init__(self, recording: Recording, *, serde: SerializerProtocol) -> None:
        self.recording = recording
        self.divergence: Divergence | None = None
        self.made: list[CallKey] = []
        """The calls that the replay has begun, in their order."""
        self.now = 0.0
        """The time of the replay, in seconds since the epoch."""
        self.reached: Callable[[], object] = lambda: None
        """Told when a call is begun."""
        self._serde = serde
        self._place = -1
        self._seen = -1
        self._calls = {entry.key: entry for entry in recording.calls}
        self._order = {entry.key: place for place, entry in enumerate(recording.calls)}
        self._cut_off = _cut_off(recording)
        self._ended = _ended(recording)
        self._revoked = _revoked(recording)
        self._timed = _timed(recording)

    # -- the steps ----------------------------------------------------------------------------------------

    @property
    def present(self) -> Moment:
        """Where the run stands."""
        return self.recording.moments[self._place]

    @property
    def expected(self) -> Moment | None:
        """Where the next step is to lead; None at the end of the record."""
        following = self._place + 1
        return self.recording.moments[following] if following < len(self.recording.moments) else None

    @property
    def ahead(self) -> tuple[Moment, ...]:
        """Where the steps that are still to come are to lead."""
        return self.recording.moments[self._place + 1 :]

    @property
    def steps(self) -> int:
        """How many steps were the same."""
        return self._seen + 1

    def turn(self) -> None:
        """Go on to the next recorded moment, which the replay is about to reach."""
        self._place += 1

    def arrive(self, values: Mapping[str, Any]) -> None:
        """Compare where the replay stands with the record, once.

        Args:
            values: The state's values, with the control channel.

        Raises:
            PlayOver: It stands elsewhere.
        """
        if self._seen >= self._place:
            return
        moment = self.present
        own = {key: value for key, value in values.items() if key != CHANNEL}
        came = cast("Json", values.get(CHANNEL) or {})
        found = differences(self._serde, recorded=(moment.control, moment.values), came=(came, own))
        if found:
            self.differ(*found, at=moment)
            raise PlayOver
        self._seen = self._place

    def passed(self, command: Command[Any]) -> Command[Any]:
        """Take a step of the replay: its messages get the ids of the record.

        Args:
            command: What the step's node returned.

        Returns:
            The same, to be committed.

        Raises:
            PlayOver: The replay differs from the record.
        """
        if self.divergence is not None:
            raise PlayOver
        before, expected = self.present, self.expected
        if expected is None:
            raise self.over()
        self.turn()
        update: Any = command.update
        written = cast("Mapping[str, Any]", update).items() if isinstance(update, Mapping) else update or ()
        pairs: list[tuple[str, Any]] = list(written)
        ids = adopted(pairs, recorded=expected.values, before=before.values)
        if not ids:
            return command
        writes = [(key, _marked(value, ids) if key == CHANNEL else renamed(value, ids)) for key, value in pairs]
        return Command(update=cast("Any", writes), goto=command.goto)

    def over(self) -> PlayOver:
        """Return the end of the play: fine where the record ends in the middle of a run, else a difference."""
        last = self.recording.moments[-1]
        if last.control["status"] != "running":
            self.differ(Difference(what="steps", recorded=f"none more, it is {last.control['status']}", came="another"))
        return PlayOver()

    def differ(self, *found: Difference, at: Moment | None = None) -> None:
        """Note a difference, unless there is one already.

        Args:
            found: What differs.
            at: The recorded moment it concerns; by default the one that the next step is to lead to.
        """
        if self.divergence is not None:
            return
        moment = at or self.expected
        last = moment.last if moment is not None else {}
        self.divergence = Divergence(
            run_no=self.recording.run_no,
            step=moment.step if moment is not None else self.present.step + 1,
            checkpoint=moment.checkpoint if moment is not None else "",
            state=str(last.get("state") or ", ".join((moment or self.present).control["at"])),
            differences=found,
        )

    # -- the calls ----------------------------------------------------------------------------------------

    def expect(self, entry: Entry) -> None:
        """Check, before it is begun, that the record has a call.

        Args:
            entry: The call.

        Raises:
            Diverged: The record has no such call, or one with other arguments.
            RunError: The activity was left in the record before it came to the call.
        """
        known = self._calls.get(entry.key)
        if known is not None and (known.name, known.fingerprint) == (entry.name, entry.fingerprint):
            if entry.key not in self.made:
                self.made.append(entry.key)
            self.reached()
            return
        if known is None and (entry.key.path, entry.key.activation) not in self._ended:
            raise RunError("The activity was left in the record before this call", where=entry.key.path)
        recorded = "no such call" if known is None else _told(known)
        place = f"call {entry.key.call} of `{entry.key.path}`"
        self.differ(Difference(what=place, recorded=recorded, came=_told(entry)))
        raise Diverged(f"The record has for {place}: {recorded}", where=entry.key.path, fix="See the replay's report.")

    def revoked(self, entry: Entry) -> tuple[Revocation, ...]:
        """Return what the record says had been taken back when a call was decided, if that stopped it.

        Args:
            entry: The call, not begun yet.
        """
        return self._revoked.get((entry.key.branch, entry.key.path, entry.key.activation, entry.key.call), ())

    def of_time(self, key: CallKey, kind: TimeKind) -> Deny | None:
        """Return why, in the record, something was refused because of the time, once for each time it was.

        Args:
            key: The call; number 0 is the activity itself.
            kind: By what time.
        """
        refusals = self._timed.get((key.branch, key.path, key.activation, key.call, kind))
        return refusals.pop(0) if refusals else None

    def cut_off_at(self, entry: Entry) -> int | None:
        """Return the try of a `once` call that a crash cut off, so that somebody had to decide about it; else None.

        Args:
            entry: The call, just begun; earlier tries do not count.
        """
        return min((tries for tries in self._cut_off.get(entry.key, ()) if tries >= entry.tries), default=None)

    def asked_inside(self, entry: Entry) -> tuple[Ask, ...]:
        """Return what agents inside a tool call asked people at this visit; empty when it did not wait for them.

        Args:
            entry: The call, just begun.
        """
        known, expected = self._calls[entry.key], self.expected
        if expected is None or known.tries <= entry.tries:
            return ()
        asked: Mapping[str, Sequence[str]] = expected.control.get("asks") or {}
        ids = {one for each in asked.values() for one in each}
        inside = [ask for ask in self.recording.asks if ask.id in ids and ask.path.startswith(f"{entry.key.path}/")]
        return tuple(ask.unanswered() for ask in inside)

    def givers(self, ask: str) -> tuple[str, ...] | None:
        """Return who gave the run its inputs, for a question under four eyes that the record does not have.

        Args:
            ask: The question's id.

        Returns:
            The names, each once; None where the question was put: who approved it was none of them.
        """
        if any(one.id == ask for one in self.recording.asks):
            return None
        return tuple(dict.fromkeys(str(note["by"]) for note in self.recording.notes if note.get("event") == GIVEN))

    def outcome(self, entry: Entry) -> Outcome | None:
        """Return what a call came to; None when its activity was left before it had ended.

        Args:
            entry: The call, just begun.
        """
        known = self._calls[entry.key]
        if known.status == "started" or (known.status == "unknown" and known.result is None) or known.error == STOPPED:
            return None
        return Outcome(
            status=known.status,
            result=known.result,
            spent={c.unit: c.billionths / BILLION for c in known.charges if c.unit in ("usd", "tokens")},
            tokens_in=known.tokens_in,
            tokens_out=known.tokens_out,
        )

    def in_order(self, calls: Sequence[CallKey]) -> list[int]:
        """Put the calls of a batch into the order in which they were begun.

        Args:
            calls: The key of each.

        Returns:
            Their positions in the batch; those that were not begun come last.
        """
        last = len(self._order)
        return sorted(range(len(calls)), key=lambda place: (self._order.get(calls[place], last), place))

    def calls_of(self, path: str, activation: int, *, branch: str) -> list[CallKey]:
        """Return the calls that an activation made in the record; those it inherited from another branch it did not.

        Args:
            path: The state.
            activation: The n-th entry into it.
            branch: The line of checkpoints.
        """
        place = path, activation, branch
        calls = (call for call in self.recording.calls if call.tries > 0)
        return [call.key for call in calls if (call.key.path, call.key.activation, call.key.branch) == place]


def _ended(recording: Recording) -> set[tuple[object, object]]:
    """State and activation of each activity that came to its end, and was not left before."""
    pairs = pairwise(recording.moments)
    ends = [moment.last for before, moment in pairs if moment.source == "step" and not is_news(moment, before)]
    return {(last.get("state"), last.get("activation")) for last in ends}


def _marked(control: Json, ids: Mapping[str, str]) -> Json:
    """The marks of the control channel refer to messages by their ids."""
    marks: Mapping[str, str] | None = control.get("marks")
    return control if not marks else {**control, "marks": {path: ids.get(id, id) for path, id in marks.items()}}


def _told(entry: Entry) -> str:
    return f"{entry.kind} `{entry.name}` with {dict(entry.arguments)!r}"


def _revoked(recording: Recording) -> dict[tuple[object, ...], tuple[Revocation, ...]]:
    """Branch, state, activation and number of each call that a revocation stopped."""
    found: dict[tuple[object, ...], tuple[Revocation, ...]] = {}
    for note in recording.notes:
        told = read_told(str(note.get("reason"))) if note.get("event") in ("denied", "fuse") else None
        if told is not None:
            branch = note.get("branch") or MAIN_BRANCH
            found[branch, note["path"], note["activation"], note["call"]] = (told,)
    return found


def _timed(recording: Recording) -> dict[tuple[object, ...], list[Deny]]:
    """Branch, state, activation, number and kind of what was refused because of the time, with the reasons in order."""
    found: dict[tuple[object, ...], list[Deny]] = {}
    for note in recording.notes:
        kind = note.get(TIMED)
        if kind is not None and note.get("event") in ("denied", "fuse", "timeout"):
            place = (note.get("branch") or MAIN_BRANCH, note["path"], note["activation"], note["call"], kind)
            fuse = RUNTIME if kind == RUNTIME else None
            denial = Deny(reason=note["reason"], rule=note["rule"], fuse=fuse, scope=note.get("scope"))
            found.setdefault(place, []).append(denial)
    return found


def _cut_off(recording: Recording) -> dict[CallKey, list[int]]:
    """The tries of each call that nobody knew the end of: from the questions about them, or from the audit log."""
    found: dict[CallKey, list[int]] = {}
    by_place = {(key.path, key.activation, key.call): key for key in (entry.key for entry in recording.calls)}
    for ask in recording.asks:
        if ask.kind == "unknown":
            key = by_place.get((ask.path, ask.activation, ask.call))
            if key is not None:
                found.setdefault(key, []).append(int(ask.fingerprint.split(":")[1]))
    for note in recording.notes:
        if note.get("event") == "unknown_after_crash":
            key = by_place.get((note["path"], note["activation"], note["call"]))
            if key is not None and key not in found:
                found[key] = [1]
    return found
