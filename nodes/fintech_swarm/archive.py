"""Where the writer of `graphs.fintech_swarm` keeps reports: the session's own folder."""

from __future__ import annotations

import stateward as sw


@sw.tool(effect="idempotent")
def save_report(file: str, text: str, *, ctx: sw.ToolContext) -> dict[str, str | int]:
    """Keep a report as a Markdown file under `reports`."""
    target = ctx.work / file
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")
    return {"file": target.name, "letters": len(text)}
