"""What people have said about the calls of an activation: approved, rejected, answered in a tool's place, edited.

An answer is of the call that was shown: its tool and arguments are in the ask's id, with session, run, branch, state,
activation and number. An edit makes another call of it, which goes through every check as if it had been asked for. So
an edit that leads to a call for which people must be asked leads to an ask of its own; only where one person is enough,
the one who edited need not be asked about the very same thing again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from stateward.govern.decision import NeedsApproval
from stateward.govern.effective import Effective
from stateward.govern.person import is_among
from stateward.run.door.activation import Activation
from stateward.run.door.outcome import undeclared
from stateward.run.door.playing import Playing
from stateward.run.door.question import approval, refuse_restless, rejected, unfit
from stateward.run.door.report import Report
from stateward.run.door.signal import Suspend
from stateward.run.door.tool import Tool, ToolResult, ToolStatus, refusal
from stateward.run.door.wanted import Wanted
from stateward.run.giver import givers
from stateward.run.store.ask import Ask, ask_id
from stateward.run.store.database import Database
from stateward.run.store.entry import Entry
from stateward.run.store.given import Given
from stateward.run.store.taken import lacks_approvers

Make = Callable[[Tool, Mapping[str, Any], int], Wanted]
"""Makes a wanted call of a tool, arguments that are not validated, and the call's number."""


class Approving:
    """Asks people, and does what they say; blocking.

    Args:
        database: The asks.
        activation: Whose calls these are.
        effective: The folded policy of the state.
        fence: The session's fencing token, or None when nothing is leased.
        report: The audit log.
        playing: The calls of a replay, which has no time and asks nobody; None where calls are made.
        tools: The tools the state declares.
        make: Makes the call that an edit wants.
    """

    def __init__(
        self,
        *,
        database: Database,
        activation: Activation,
        effective: Effective,
        fence: int | None,
        report: Report,
        playing: Playing | None,
        tools: Mapping[str, Tool],
        make: Make,
    ) -> None:
        self._database = database
        self._activation = activation
        self._effective = effective
        self._fence = fence
        self._report = report
        self._playing = playing
        self._tools = tools
        self._make = make

    def current(self, wanted: Wanted, known: Entry | None) -> Wanted | ToolResult:
        """Return what people have made of a call.

        Args:
            wanted: The call.
            known: What the journal has under its number; None for nothing.

        Returns:
            The call itself, or what it was edited to; the observation when that is no call the state can make.
        """
        if known is not None and known.fingerprint != wanted.entry.fingerprint:
            return self._made(wanted, known) or wanted
        seen = {wanted.entry.fingerprint}
        while (given := self._edit_of(wanted)) is not None:
            edited = self._edited(wanted, given)
            if isinstance(edited, ToolResult):
                return edited
            if edited.entry.fingerprint in seen:
                return self._refused(wanted, "rejected", "it was edited back to a call that was edited before")
            seen.add(edited.entry.fingerprint)
            wanted = edited
        return wanted

    def _made(self, wanted: Wanted, known: Entry) -> Wanted | None:
        """Find the edits that led to a call that was made: on this branch, or on the one that it is inherited from."""
        edits = self._database.asks.edits(known.key.session, run=known.key.run, call=known.key.call)
        seen, todo = set[str](), [wanted]
        while todo:
            one = todo.pop()
            if one.entry.fingerprint == known.fingerprint:
                return one
            if one.entry.fingerprint not in seen:
                seen.add(one.entry.fingerprint)
                found = (ask.last for ask in edits if ask.fingerprint == one.entry.fingerprint)
                with suppress(ValueError):  # what is no call was never made
                    todo += [edited for given in found if given is not None and (edited := self._changed(one, given))]
        return None

    def may_be_edited(self, wanted: Wanted) -> bool:
        """Whether somebody may have been asked about a call.

        Args:
            wanted: The call.
        """
        return self._effective.level(wanted.tool.name).level != "allowed"

    def answered(self, wanted: Wanted, need: NeedsApproval) -> ToolResult | None:
        """Find out what people say about a call for which they must be asked.

        Args:
            wanted: The call.
            need: Why they are asked.

        Returns:
            None when enough of them approved, the observation when it is not made.

        Raises:
            Suspend: They have not answered yet.
            Diverged: The call has other arguments each time.
        """
        if need.approvals == 1 and _approved(wanted, need):
            return None
        asks = self._database.asks
        ask = asks.find(_id(wanted))
        if ask is not None and ask.status == "expired":
            (ask,) = asks.load(ask.session, [ask.id], fence=self._fence)
        if ask is None or ask.status in ("open", "withdrawn"):
            return self._ask(wanted, need)
        if ask.decision == "approve":
            reason = unfit(ask, need)
            return None if reason is None else self._refused(wanted, "rejected", reason)
        result = self._refused(wanted, "rejected", rejected(ask, need))
        return replace(result, value=ask.note) if ask.decision == "respond" else result

    def _ask(self, wanted: Wanted, need: NeedsApproval) -> ToolResult:
        barred = self._barred(wanted) if need.four_eyes else ()
        if barred is None:
            return self._refused(
                wanted, "denied", f"{need.reason} and needs four eyes, but nobody said who gave the input"
            )
        now = None if self._playing is not None else self._database.clock.now()
        answers = _approved(wanted, need)
        ask = approval(wanted.request, wanted.entry, need, now=now, barred=barred, answers=answers)
        # No answer could ever let it pass: it would wait until it expires, or for ever.
        if barred and lacks_approvers(ask):
            return self._refused(wanted, "denied", _nobody(ask, need))
        refuse_restless(wanted.entry, answered=self._database.asks.times_answered(wanted.entry.key))
        raise Suspend([ask])

    def _barred(self, wanted: Wanted) -> tuple[str, ...] | None:
        """Who may not approve under four eyes; None when nobody said who gave the input.

        Nobody where a recorded run is played that was asked about the call: who approved it was none of them.
        """
        at, edit = self._activation, wanted.edit
        if self._playing is None:
            gave = givers(self._database, at.session, run=at.run)
        elif (gave := self._playing.script.givers(_id(wanted))) is None:
            return ()
        return (*gave, *([edit.by] if edit is not None else [])) if gave else None

    def _edit_of(self, wanted: Wanted) -> Given | None:
        ask = self._database.asks.find(_id(wanted))
        if ask is not None:
            return ask.last if ask.status == "answered" and ask.decision == "edit" else None
        return self._edit_before(wanted)

    def _edit_before(self, wanted: Wanted) -> Given | None:
        """Find the edit that this branch was forked after: it was asked here about what came of it."""
        key = wanted.entry.key
        for ask in self._database.asks.edits(key.session, run=key.run, call=key.call):
            if ask.fingerprint == wanted.entry.fingerprint and ask.last is not None:
                with suppress(ValueError):
                    edited = self._changed(wanted, ask.last)
                    if edited is not None and self._database.asks.find(_id(edited)) is not None:
                        return ask.last
        return None

    def _edited(self, wanted: Wanted, given: Given) -> Wanted | ToolResult:
        name, arguments, call = given.tool or wanted.tool.name, given.arguments or {}, wanted.entry.key.call
        try:
            made = self._changed(wanted, given)
        except ValueError as wrong:
            return self._no_call("invalid", name, arguments, f"{given.by} edited it, and {wrong}", call)
        if made is None:
            return self._no_call("denied", name, arguments, undeclared(name, self._tools), call)
        return made

    def _changed(self, wanted: Wanted, given: Given) -> Wanted | None:
        tool = self._tools.get(given.tool or wanted.tool.name)
        if tool is None:
            return None
        made = self._make(tool, given.arguments or {}, wanted.entry.key.call)
        return replace(made, edit=given, was=wanted.tool.name)

    def _refused(self, wanted: Wanted, status: ToolStatus, reason: str) -> ToolResult:
        return self._no_call(status, wanted.tool.name, wanted.request.arguments, reason, wanted.entry.key.call)

    def _no_call(
        self, status: ToolStatus, name: str, arguments: Mapping[str, Any], reason: str, call: int
    ) -> ToolResult:
        self._report.write(status, name, arguments, reason, call)
        return refusal(name, status, reason, call=call)


def _nobody(ask: Ask, need: NeedsApproval) -> str:
    barred, able = ", ".join(dict.fromkeys(ask.barred)), ", ".join(ask.approvers)
    return (
        f"{need.reason} and needs four eyes: of who may approve ({able}), too few are left without who gave the input "
        f"or edited the call ({barred})"
    )


def _id(wanted: Wanted) -> str:
    return ask_id(wanted.entry.key, fingerprint=wanted.entry.fingerprint)


def _approved(wanted: Wanted, need: NeedsApproval) -> tuple[Given, ...]:
    """Who edited a call has approved what it became by that; of another tool than was asked about it says nothing."""
    edit = wanted.edit
    if edit is None or need.four_eyes or wanted.was != wanted.tool.name:
        return ()
    if need.approvers and not is_among(edit.by, need.approvers):
        return ()
    return (Given(by=edit.by, decision="approve", note=edit.note, at=edit.at),)
