"""The last state of `graphs.market_research`: the report is in a file, whoever wrote it, and the user is told."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

import stateward as sw
from nodes.market_research.findings import records_in
from nodes.market_research.order import WRITER
from nodes.market_research.rules import NOTHING, REPORT_FILE
from nodes.market_research.state import Market
from stateward import teams


def keeping(out: Path) -> Callable[..., Awaitable[dict[str, Any]]]:
    """Make the activity of the last state.

    Args:
        out: The work directory, as it is configured.

    Returns:
        It sees to it that there is a report; what the writer has not kept itself is kept here.
    """

    async def keep(state: Market, run: sw.Run) -> dict[str, Any]:
        text = str(teams.answer_of(state, WRITER) or teams.answer_of(state, "DESK") or NOTHING)
        file, problem = kept_in(state.get("writer", [])), ""
        if not file:
            wrote = await run.tool("write_document", file=REPORT_FILE, text=text)
            file, problem = (str(wrote.value["file"]), "") if wrote.ok else ("", wrote.text)
        # The next run's models read the message: where the work directory is on this machine is not their business.
        said = f"The report is in the work directory: {file}" if file else f"The report could not be kept: {problem}"
        return {"report": (out / file).as_posix() if file else "", "messages": [AIMessage(f"{said}\n\n{text}")]}

    return keep


def kept_in(messages: Sequence[BaseMessage]) -> str:
    """Return the report that a conversation has written last; nothing when it has written none.

    Args:
        messages: The writer's conversation.
    """
    wrote = [m for m in messages if isinstance(m, ToolMessage) and m.name == "write_document" and m.status == "success"]
    files = [str(said.get("file", "")) for message in wrote for said in records_in(message.text)]
    return next((file for file in reversed(files) if "/reports/" in file), "")
