"""What a wait does, inside another graph, with an answer or event that it refuses: it says why, and waits on.

At the top admission refuses before anything is stored. Inside another graph nobody admits: LangGraph stores what the
wait is resumed with before the chart can look at it, and hands it to whatever waits next, again and again. So a refusal
is a step of its own there, which leads back to the wait, and what LangGraph has stored for the graph around is used up:
an answer is taken once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.serde.types import RESUME
from langgraph.config import get_stream_writer
from langgraph.types import Command

from stateward.errors import GovernanceError, InputRefused, NotExpected, StatewardError, UpdateRefused
from stateward.run.checkpoint import CHANNEL, Json
from stateward.run.drive import Steps, Work
from stateward.run.invocation import Invocation, invocation_of
from stateward.run.nested import saver_in
from stateward.run.progress import Progress
from stateward.run.store.stored import NO_TASK

REFUSED = "refused"
"""The event of the step, and the key under which the record of the step and the next interrupt say why."""
REFUSALS = (InputRefused, NotExpected, UpdateRefused, GovernanceError)
"""What a wait raises about what it was resumed with; anything else is a failure."""


def why_refused(progress: Progress) -> Json:
    """Return what an interrupt says of an answer or event that was just refused; nothing else otherwise.

    Args:
        progress: Where the wait stands.
    """
    last: Mapping[str, Any] = progress.control.raw.get("last") or {}
    return {REFUSED: last[REFUSED]} if last.get(REFUSED) else {}


def used_up(config: RunnableConfig) -> Steps[None]:
    """Let what the graph around was resumed with be no answer to anything that waits later.

    Args:
        config: The config of the waiting node, which has it by now.

    Returns:
        A generator of work.
    """
    if invocation_of(config).shared:
        return
    saver, configurable = saver_in(config), config.get("configurable", {})
    named: Mapping[str, str] = configurable.get("checkpoint_map") or {}
    if saver is None or "" not in named:
        return
    root: RunnableConfig = {
        "configurable": {**configurable, "checkpoint_ns": "", "checkpoint_id": named[""], "checkpoint_map": {}}
    }
    yield Work(fn=saver.put_writes, afn=saver.aput_writes, args=(root, [(RESUME, None)], NO_TASK))


def waits_on(
    values: Mapping[str, Any], config: RunnableConfig, *, path: str, node: str, refusal: StatewardError
) -> Steps[Command[Any]]:
    """Commit that a wait refused what it was resumed with, and waits on.

    Args:
        values: The state's values, with the control channel.
        config: LangGraph's config of the waiting node.
        path: The state that waits.
        node: The waiting node.
        refusal: Why.

    Returns:
        A generator of work that returns LangGraph's command.

    Raises:
        StatewardError: The refusal, where admission has let pass what it should have refused.
    """
    invocation = invocation_of(config)
    if invocation.shared:
        raise refusal
    text = str(refusal)
    get_stream_writer()({REFUSED: text, "state": path})
    yield Work(fn=_record, args=(invocation, values[CHANNEL]["run"]["id"], path, text))
    last = {"event": REFUSED, "state": path, "activation": 0, REFUSED: text}
    return Command(update={CHANNEL: {"last": last}}, goto=node)


def _record(invocation: Invocation, run: str, path: str, text: str) -> None:
    invocation.database.audit.append(
        {"event": REFUSED, "session": invocation.session, "run": run, "path": path, "reason": text}
    )
