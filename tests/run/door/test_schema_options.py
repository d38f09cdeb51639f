"""A model is held to a JSON schema in the words of its own provider."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from stateward.run.door.schema_options import schema_options
from stateward.testing import ScriptedModel

SCHEMA: dict[str, Any] = {
    "title": "Ticket",
    "type": "object",
    "additionalProperties": False,
    "properties": {"a": {"type": "string", "maxLength": 5}},
    "required": ["a"],
}


def test_an_openai_model_gets_a_strict_response_format() -> None:
    """As LangChain's own class sends it, without what it adds for traces."""
    model = ChatOpenAI(model="m", api_key=SecretStr("k"), base_url="http://localhost:1")
    options = schema_options(model, SCHEMA, where="here")
    assert list(options) == ["response_format"]
    shape = options["response_format"]["json_schema"]
    assert (shape["name"], shape["strict"]) == ("Ticket", True)
    assert shape["schema"]["properties"] == SCHEMA["properties"]


def test_a_model_with_tools_alone_must_call_one() -> None:
    """The schema is that of the tool's arguments."""
    options = schema_options(ScriptedModel.of(), SCHEMA, where="here")
    assert options["tool_choice"] == "any"
    assert options["tools"][0]["function"]["name"] == "Ticket"


def test_a_model_whose_class_takes_no_method_is_asked_without() -> None:
    """What it does for a schema by itself is taken."""

    class Own(ScriptedModel):
        def with_structured_output(self, schema: Any, **kwargs: Any) -> Any:
            if kwargs:
                raise ValueError("unknown")
            return self.bind(format=schema)

    assert schema_options(Own.of(), SCHEMA, where="here") == {"format": SCHEMA}


def test_a_model_that_can_do_neither_says_so() -> None:
    """The next tier is for it."""
    with pytest.raises(NotImplementedError):
        schema_options(FakeListChatModel(responses=[]), SCHEMA, where="here")
