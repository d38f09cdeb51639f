"""What the door tells the audit log of calls that were not made, or whose end nobody knows."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from pydantic_core import to_jsonable_python

from stateward.chart.event import Occurrence
from stateward.govern.argument import is_too_large
from stateward.govern.decision import CallRequest, Deny
from stateward.govern.kinds.redaction import BY_DEFAULT, Finding
from stateward.govern.redact import redact
from stateward.run.door.activation import Activation
from stateward.run.door.signal import fuse_event
from stateward.run.door.told import shortened, told
from stateward.run.store.database import Database

_MOST_SHOWN = 100_000
"""How many letters and values of arguments that were refused are looked through, and shown."""


class Report:
    """The audit log of one activation; blocking.

    Arguments that were refused may be anything, so everything that redaction knows is taken out of them.

    Args:
        database: Where the log is.
        activation: Whose calls it is about.
        classes: What is taken out of the rest of a record.
    """

    def __init__(
        self, database: Database, activation: Activation, *, classes: Collection[Finding] = BY_DEFAULT
    ) -> None:
        self._database = database
        self._activation = activation
        self._classes = classes

    def write(
        self,
        what: str,
        name: str,
        arguments: Mapping[str, Any],
        reason: str,
        call: int,
        *,
        more: Mapping[str, Any] | None = None,
    ) -> None:
        """Record something about a call.

        Args:
            what: What happened.
            name: The tool or the role.
            arguments: Its arguments; secrets and personal data are taken out.
            reason: Why, in one sentence.
            call: The call's number in the activation; 0 for the activity itself.
            more: JSON; what else there is to say.
        """
        at = self._activation
        self._database.audit.append(
            {
                "event": what,
                "session": at.session,
                "run": at.run,
                "branch": at.branch,
                "path": at.path,
                "activation": at.number,
                "call": call,
                "name": redact(shortened(name), classes=self._classes),
                "arguments": _shown(arguments),
                "reason": redact(reason, classes=self._classes),
                **redact(dict(more or {}), classes=self._classes),
            }
        )

    def tripped(
        self, denial: Deny, request: CallRequest, call: int, *, more: Mapping[str, Any] | None = None
    ) -> Occurrence:
        """Record that a limit stands in the way of a call.

        Args:
            denial: Why.
            request: The call.
            call: Its number in the activation.
            more: JSON; what else there is to say.

        Returns:
            The event for the chart.
        """
        self.write("fuse", request.name, request.arguments, denial.reason, call, more=more)
        return fuse_event(denial, request)


def _shown(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments that were refused may be anything: those that are no JSON, or too large for rules, are not shown."""
    try:
        plain: dict[str, Any] = to_jsonable_python(dict(arguments), fallback=str)
        return {"(not shown)": "too large"} if is_too_large(plain, largest=_MOST_SHOWN) else redact(plain)
    except Exception as misfit:  # noqa: BLE001  # recorded in their place
        return {"(not shown)": told(misfit)}
