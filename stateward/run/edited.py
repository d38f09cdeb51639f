"""What an answer says of a call: the one that was shown, or another one that the state could make."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stateward.errors import CodecError, InputRefused
from stateward.govern.fingerprint import canonical
from stateward.run.door.outcome import undeclared
from stateward.run.plan import Machine
from stateward.run.store.ask import Ask
from stateward.run.store.given import Decision


def refuse_misfit(
    machine: Machine, ask: Ask, decision: Decision, *, tool: str = "", arguments: Mapping[str, Any] | None = None
) -> None:
    """Refuse an answer that names another call without being an edit, or an edit to what is no call.

    Whether the policy lets the edited call pass is decided when it is made, by the same checks as for any other.

    Args:
        machine: The lowered chart.
        ask: What was asked.
        decision: What is answered.
        tool: The tool that is named; empty for none.
        arguments: The arguments that are named; None for none.

    Raises:
        InputRefused: The tool or the arguments are none that fit.
    """
    if decision != "edit":
        refuse_other_call(ask, tool=tool, arguments=arguments)
        return
    if arguments is None:
        raise _misfit(ask, "names no arguments")
    state = machine.chart.by_path.get(ask.path)
    if state is None or state not in machine.plans:
        return  # an agent inside of a state: what it may call is looked at when it calls
    tools, name = machine.plans[state].tools, tool or ask.tool
    if name not in tools:
        raise _misfit(ask, f"leads to no call: {undeclared(name, tools)}")
    try:
        tools[name].plain(tools[name].parse(arguments))
    except ValueError as wrong:
        raise _misfit(ask, f"does not fit tool `{name}`: {wrong}") from wrong


def refuse_other_call(ask: Ask, *, tool: str = "", arguments: Mapping[str, Any] | None = None) -> None:
    """Refuse an answer that means another call than its ask shows.

    Args:
        ask: What was asked.
        tool: The tool that is meant; empty when it is not said.
        arguments: The arguments that are meant; None when they are not said.

    Raises:
        InputRefused: They are other ones.
    """
    if tool in ("", ask.tool) and (arguments is None or _is_same(arguments, dict(ask.arguments))):
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
