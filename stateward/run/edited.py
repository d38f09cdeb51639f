"""What an answer says of a call: the one that was shown, or another one that the state could make."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stateward.errors import CodecError, InputRefused
from stateward.govern.fingerprint import canonical
from stateward.run.door.outcome import undeclared
from stateward.run.door.tool import Tool
from stateward.run.plan import Machine
from stateward.run.store.ask import Ask
from stateward.run.store.fitted import fitted
from stateward.run.store.given import Given
from stateward.run.store.kind import EDIT, REVIEW
from stateward.run.store.taken import refuse_closed, taken


def refuse_misfit(
    machine: Machine, ask: Ask, said: Given, *, tool: str = "", arguments: Mapping[str, Any] | None = None
) -> None:
    """Refuse an answer that does not fit its ask, names another call without being an edit, or edits to what is none.

    What the ask itself would refuse is refused here as well, so that of several answers none is recorded then.

    Whether the policy lets the edited call pass is decided when it is made, by the same checks as for any other.

    Args:
        machine: The lowered chart.
        ask: What was asked.
        said: What is answered.
        tool: The tool that is named; empty for none.
        arguments: The arguments that are named; None for none.

    Raises:
        InputRefused: It is none that fits.
        AskClosed: It was answered, withdrawn or expired before.
        GovernanceError: The person may not answer it or has done so already, or it is no answer to this ask.
    """
    refuse_closed(ask)
    if said.decision in ask.allowed or not ask.is_question:
        _refuse_other(machine, ask, fitted(ask, said), tool=tool, arguments=arguments)
    taken(ask, said)


def _refuse_other(machine: Machine, ask: Ask, said: Given, *, tool: str, arguments: Mapping[str, Any] | None) -> None:
    if said.decision != "edit":
        refuse_other_call(ask, tool=tool, arguments=arguments)
        return
    if ask.kind == EDIT:
        return
    arguments = said.arguments
    if arguments is None:
        raise _misfit(ask, "names no arguments")
    tools, name = _callable(machine, ask), tool or ask.tool
    if tools is None:
        return
    if name not in tools:
        raise _misfit(ask, f"leads to no call: {undeclared(name, tools)}")
    try:
        tools[name].plain(tools[name].parse(arguments))
    except ValueError as wrong:
        raise _misfit(ask, f"does not fit tool `{name}`: {wrong}") from wrong


def _callable(machine: Machine, ask: Ask) -> Mapping[str, Tool] | None:
    """The tools of which an edit may name one; None where nobody knows them yet."""
    if ask.kind == REVIEW:  # another state than the one that asks may make the call
        return machine.tools if ask.tool in machine.tools else None
    state = machine.chart.by_path.get(ask.path)
    # An agent inside of a state: what it may call is looked at when it calls.
    return machine.plans[state].tools if state is not None and state in machine.plans else None


def refuse_other_call(ask: Ask, *, tool: str = "", arguments: Mapping[str, Any] | None = None) -> None:
    """Refuse an answer that means another call than its ask shows.

    Args:
        ask: What was asked.
        tool: The tool that is meant; empty when it is not said.
        arguments: The arguments that are meant; None when they are not said.

    Raises:
        InputRefused: They are other ones.
    """
    if tool in ("", ask.tool) and (arguments is None or _is_same(arguments, dict(ask.shown))):
        return
    raise InputRefused(
        f"The answer to `{ask.id}` means another call than the one it was asked about",
        where=f"session `{ask.session}`",
        fix=f"Answer about `{ask.tool}` with the arguments that were shown, or leave both out. To have another call"
        " made, answer `edit`.",
    )


def _misfit(ask: Ask, what: str) -> InputRefused:
    return InputRefused(
        f"The edit of `{ask.id}` {what}",
        where=f"session `{ask.session}`, state `{ask.path}`",
        fix="Give all arguments of a tool that the state declares; the ask is still open.",
    )


def _is_same(meant: object, shown: object) -> bool:
    try:
        return canonical(meant) == canonical(shown)
    except (CodecError, RecursionError):
        return False
