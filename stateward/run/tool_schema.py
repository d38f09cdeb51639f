"""A tool as a chat model is shown it."""

from __future__ import annotations

from typing import Any

from stateward.run.door.tool import Tool


def tool_schema(tool: Tool) -> dict[str, Any]:
    """Describe a tool to a chat model.

    Args:
        tool: The tool.

    Returns:
        OpenAI's function form, as `bind_tools` takes it.
    """
    return {
        "type": "function",
        "function": {"name": tool.name, "description": tool.description, "parameters": dict(tool.schema)},
    }
