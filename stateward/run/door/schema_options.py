"""How the provider of a model is told to keep to a JSON schema: what LangChain's own class for it would send."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import RunnableSequence

from stateward.run.door.role import unbound

_TRACED = "ls_structured_output_format"
"""What LangChain adds for its own traces, and no provider reads."""


def schema_options(model: BaseChatModel, schema: Mapping[str, Any], *, where: str) -> dict[str, Any]:
    """Find the options by which a model is held to a JSON schema.

    Args:
        model: A bare chat model.
        schema: The schema, with a title.
        where: Who asks, for messages.

    Returns:
        What is sent beside the messages: a response format, a format, or one tool that must be called.

    Raises:
        NotImplementedError: The model can neither be held to a schema nor call tools.
    """
    made = _strict(model, dict(schema))
    first = cast("RunnableSequence[Any, Any]", made).first if isinstance(made, RunnableSequence) else made
    _, options = unbound(first, where=where)
    options.pop(_TRACED, None)
    return options


def _strict(model: BaseChatModel, schema: dict[str, Any]) -> object:
    try:
        return model.with_structured_output(schema, method="json_schema", strict=True)
    except (TypeError, ValueError):  # its class does not know these words
        return model.with_structured_output(schema)
