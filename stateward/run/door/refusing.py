"""What becomes of a call that is not let in: the observation, the event for the chart, and what the log is told."""

from __future__ import annotations

from collections.abc import Mapping

from stateward.errors import Diverged
from stateward.govern.decision import CallRequest, Deny
from stateward.run.door.report import Report
from stateward.run.door.signal import Trip
from stateward.run.door.tool import ToolResult, refusal
from stateward.run.door.waiting import TIMED, OutOfTime
from stateward.run.store.entry import Entry


class Refusing:
    """Refuses the calls of one activation; blocking.

    Args:
        report: The audit log.
    """

    def __init__(self, report: Report) -> None:
        self._report = report

    def denied(self, denial: Deny, request: CallRequest, call: int) -> ToolResult:
        """Refuse a tool call that the policy denies.

        Args:
            denial: Why.
            request: The call.
            call: Its number in the activation.

        Returns:
            The observation.

        Raises:
            Trip: A fuse forbids it.
        """
        if denial.fuse:
            raise Trip(self._report.tripped(denial, request, call))
        self._report.write("denied", request.name, request.arguments, denial.reason, call)
        return refusal(request.name, "denied", denial.reason, call=call)

    def of_time(self, late: OutOfTime, request: CallRequest, call: int) -> ToolResult:
        """Refuse a tool call that there is no time for.

        Args:
            late: Why.
            request: The call.
            call: Its number in the activation.

        Returns:
            The observation.

        Raises:
            Trip: The working time is used up.
        """
        if late.denial.fuse:
            raise Trip(self._report.tripped(late.denial, request, call, more=more(late))) from late
        self.note(late, request, call)
        status = "timeout" if late.kind == "time" else "denied"
        return refusal(request.name, status, late.denial.reason, call=call)

    def note(self, late: OutOfTime, request: CallRequest, call: int) -> None:
        """Record that there was no time for a call.

        Args:
            late: Why.
            request: The call.
            call: Its number in the activation.
        """
        self._report.write("denied", request.name, request.arguments, late.denial.reason, call, more=more(late))


def more(late: OutOfTime) -> Mapping[str, str | None]:
    """Return what else the log is told of a call that there was no time for.

    Args:
        late: Why.
    """
    return {TIMED: late.kind, "rule": late.denial.rule, "scope": late.denial.scope}


def refuse_other(known: Entry | None, entry: Entry) -> None:
    """Refuse a call under whose number the journal has another one.

    Args:
        known: What the journal has; None for nothing.
        entry: The call.

    Raises:
        Diverged: It is another tool, or has other arguments.
    """
    if known is not None and known.fingerprint != entry.fingerprint:
        raise Diverged(
            f"Call {entry.key.call} was `{known.name}` with other arguments, and is now `{entry.name}`",
            where=entry.key.path,
            fix="An activity that is entered again must make the same calls in the same order; move what "
            "changes (time, random numbers) into a tool or into the state.",
        )
