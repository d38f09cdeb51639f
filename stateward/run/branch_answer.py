"""Answering an ask on the branch it stands on, whichever branch its session is on now.

Every branch that was left while it waited keeps its asks: an answer to one is an answer there, and the session goes on
with that branch. Nothing of the branch that is left is changed (DESIGN: an answer never replays another one).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from langchain_core.runnables import RunnableConfig

from stateward.run.answering import asked, claimed, expect
from stateward.run.caller import Caller
from stateward.run.drive import Steps, Work
from stateward.run.outcome import Outcome
from stateward.run.store.ask import Ask, Decision


def answering(
    caller: Caller,
    ask: str,
    decision: Decision,
    *,
    by: str,
    note: str,
    tool: str = "",
    arguments: Mapping[str, Any] | None = None,
    head_of: Callable[[str], Steps[RunnableConfig]],
) -> Steps[Outcome]:
    """Answer an ask, and go on with its branch.

    Args:
        caller: The session.
        ask: The ask's id.
        decision: What is answered.
        by: Who answers.
        note: Why.
        tool: The tool that is meant, of an edit the one that is wanted; empty when it is not said.
        arguments: The arguments that are meant, of an edit those that are wanted; None when they are not said.
        head_of: Names the end of a branch.

    Returns:
        A generator of work that returns where the session stands.

    Raises:
        UnknownAsk: No ask has this id, or it belongs to another tenant's session.
        AskClosed: It was answered, withdrawn or expired before.
        NotExpected: The ask is another session's, or its branch does not wait for it; nothing was recorded.
        SessionBusy: A run holds the session; the answer may be recorded, and resuming the branch goes on with it.
        Drift: The branch's run was started by another definition; nothing was recorded.
    """
    there: Mapping[str, Any] = yield from expected(caller, ask, head_of=head_of)
    yield Work(fn=partial(claimed, caller, ask, decision, by=by, note=note, tool=tool, arguments=arguments))
    return (yield caller.calling(None, more=there))


def expected(caller: Caller, ask: str, *, head_of: Callable[[str], Steps[RunnableConfig]]) -> Steps[Mapping[str, Any]]:
    """Check that an answer to an ask would lead somewhere, on the branch it stands on.

    Args:
        caller: The session.
        ask: The ask's id.
        head_of: Names the end of a branch.

    Returns:
        A generator of work that returns what names the end of the branch in LangGraph's `configurable`.

    Raises:
        UnknownAsk: No ask has this id, or it belongs to another tenant's session.
        NotExpected: Its branch does not wait for it.
        Drift: The branch's run was started by another definition.
    """
    found: Ask = yield Work(fn=asked, args=(caller, ask))
    if found.session != caller.session:
        return {}
    there: Mapping[str, Any] = (yield from head_of(found.branch)).get("configurable", {})
    yield Work(fn=expect, args=(replace(caller, config=caller.configured(there)), ask))
    return there
