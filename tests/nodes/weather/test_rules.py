"""What the weather's rules call and say."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from nodes.react.calculator import calculate
from nodes.weather.rules import ASK_CITY, recorded, spoken
from nodes.weather.thermometer import city_in, get_temperature, to_fahrenheit

TOOLS = {tool.name: tool for tool in (calculate, get_temperature, to_fahrenheit)}


def asked(*questions: str) -> list[str]:
    """Ask one after the other, make the calls by hand, and return the answers."""
    said: list[BaseMessage] = []
    for question in questions:
        said.append(HumanMessage(question))
        while not (reply := spoken(said)).text:
            said += [reply, *observed(reply)]
        said.append(reply)
    return [message.text for message in said if isinstance(message, AIMessage) and message.text]


def observed(reply: AIMessage) -> Sequence[ToolMessage]:
    return [
        ToolMessage(json_text(call["name"], call["args"]), tool_call_id=str(call["id"])) for call in reply.tool_calls
    ]


def json_text(name: str, args: dict[str, object]) -> str:
    return str(TOOLS[name].fn(**args)).replace("'", '"')


def test_the_square_is_that_of_the_reading_before() -> None:
    """18 °C, 324, 64.4 °F: later turns build on the first."""
    said = asked("How warm is it in New York?", "What is its square?", "And in Fahrenheit?")
    assert said == ["It is 18 °C in New York.", "18 squared is 324.", "18 °C is 64.4 °F."]


def test_one_question_may_need_several_calls() -> None:
    """They are made one after the other, and all are told."""
    (said,) = asked("Square the temperature of Oslo, and give it in Fahrenheit.")
    assert said == "It is 9 °C in Oslo. 9 squared is 81. 9 °C is 48.2 °F."


@pytest.mark.parametrize(
    ("question", "record"),
    [
        ("Oslo?", {"answer": "It is 9 °C in Oslo.", "value": 9, "unit": "celsius"}),
        ("Square?", {"answer": ASK_CITY, "unit": "none"}),
    ],
)
def test_a_record_has_the_number_that_was_told_last(question: str, record: dict[str, object]) -> None:
    """With its unit; without a number there is none."""
    said: list[BaseMessage] = [HumanMessage(question)]
    while (reply := recorded(said)).tool_calls:
        said += [reply, *observed(reply)]
    assert json.loads(reply.text) == record


@pytest.mark.parametrize("question", ["", "Its square?", "How warm is it in Atlantis?"])
def test_without_a_reading_the_city_is_asked_for(question: str) -> None:
    """Nothing is made up."""
    assert asked(question) == [ASK_CITY]


def test_the_city_that_is_named_last_counts() -> None:
    """Whatever its letters."""
    assert city_in("not london but NEW YORK") == "New York"
    assert city_in("nowhere") == ""


@pytest.mark.parametrize("city", ["Atlantis", "", "London; Oslo"])
def test_a_city_without_thermometer_is_an_error(city: str) -> None:
    """It names those that have one."""
    with pytest.raises(ValueError, match="Tokyo"):
        get_temperature.fn(city=city)


@pytest.mark.parametrize("celsius", [-274.0, float("nan"), float("inf")])
def test_what_is_no_temperature_is_not_converted(celsius: float) -> None:
    """Nothing is colder than absolute zero."""
    with pytest.raises(ValueError, match="no temperature"):
        to_fahrenheit.fn(celsius=celsius)
