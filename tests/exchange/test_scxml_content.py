"""Executable content of SCXML documents, by names from a registry."""

from __future__ import annotations

from typing import Any

import pytest

from stateward.chart.definition import Definition
from stateward.errors import DefinitionError
from stateward.exchange.registry import Registry
from stateward.exchange.scxml_reader import read_scxml
from stateward.simulation import Simulation

NAMESPACES = 'xmlns="http://www.w3.org/2005/07/scxml" xmlns:sw="urn:stateward:1" version="1.0"'


def note(state: Any, *, text: str) -> dict[str, str]:
    """An action."""
    return {"noted": text}


def log(state: Any, *, label: str, expr: str) -> dict[str, str]:
    """What the document's `<log>` means here."""
    return {"logged": f"{label}: {expr}"}


def work(state: Any) -> None:
    """An activity."""


def total(state: Any) -> int:
    """The data of a final state."""
    return 7


REGISTRY = Registry.of(actions=[note, log], activities=[work], data=[total])


def read(inside: str, *, attributes: str = "") -> Definition:
    return read_scxml(f"<scxml {NAMESPACES} {attributes}>{inside}</scxml>", registry=REGISTRY)


def entered(content: str) -> Simulation:
    text = f'<state id="a"><onentry>{content}</onentry><transition event="now" target="b"/></state><state id="b"/>'
    return Simulation(read(text), state={})


def test_raise_is_processed_in_the_same_macrostep() -> None:
    """So is `<send>` to the internal queue."""
    assert entered('<raise event="now"/>').at == ("b",)
    assert entered('<send event="now" target="#_internal"/>').at == ("b",)


def test_send_comes_later_and_can_be_cancelled() -> None:
    """With the data that its parameters say, as JSON."""
    later = entered('<send event="now" delay="200ms" id="x"><param name="n" expr="[1]"/></send>')
    assert [(due, id, event.data) for due, id, event in later.pending] == [(0.2, "x", {"n": [1]})]
    assert (later.wait(0.1), later.wait(0.1)) == (("a",), ("b",))
    assert entered('<send event="now" delay="1s" id="x"/><cancel sendid="x"/>').pending == ()


def test_an_action_is_called_by_its_name_with_its_parameters() -> None:
    """`<log>` is the action of that name."""
    simulated = entered('<sw:action name="note" params=\'{"text": "x"}\'/><log label="l" expr="e"/>')
    assert simulated.data.state == {"noted": "x", "logged": "l: e"}


def test_an_invoke_of_our_type_is_an_activity() -> None:
    """What it may touch is said in our own namespace."""
    touches = 'sw:model="m" sw:tools="a b" sw:contract="c" sw:timeout="90s" sw:asks="true"'
    invoke = f'<invoke type="stateward" src="work" {touches}/>'
    activity = read(f'<state id="a">{invoke}</state>').node("a").activity
    assert activity is not None
    assert (activity.do, activity.model, activity.tools, activity.timeout_s) == (work, "m", ("a", "b"), 90.0)
    assert (activity.output, activity.asks) == ("c", True)


def test_the_data_of_a_final_state_is_json_or_a_function() -> None:
    """The kernel calls either."""
    said = Simulation(read('<final id="a"><donedata><content>{"n": 1}</content></donedata></final>'), state={})
    named = Simulation(read('<final id="a"><donedata><content expr="total"/></donedata></final>'), state={})
    assert (said.last.output, named.last.output) == ({"n": 1}, 7)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("\n<assign location='x' expr='1'/>", r"<assign> is not carried over \(at <assign>, line 2\)"),
        ("<script>x = 1</script>", "<script> is not carried over"),
        ("<if cond='a'/>", "<if> is not carried over"),
        ("<foreach array='a' item='b'/>", "<foreach> is not carried over"),
        ("<sw:else/>", "<else> is not carried over"),
        ("<log xmlns='urn:other'/>", "<log> is not carried over"),
        ("<sw:action name='x'/>", "`x` is not among the registry's actions .*line 1"),
        ("<sw:action name='note' params='[1]'/>", "`params` is no JSON object"),
        ("<raise event='a b'/>", "`a b` is not an event name"),
        ("<raise event='a.*'/>", "is not the name of one event"),
        ("<raise event='a' id='b'/>", "attribute `id` of <raise>"),
        ("<send event='a' target='#_parent'/>", r"<send> is not carried over \(at <send 'a'>, line 1\)"),
        ("<send event='a' type='http'/>", "<send> is not carried over"),
        ("<send eventexpr='a'/>", "attribute `eventexpr`"),
        ("<send event='a' target='#_internal' delay='1s'/>", "An internal event has no delay"),
        ("<send event='a' delay='soon'/>", "`soon` is no time"),
        ("<send event='a' delay='-1s'/>", "`-1s` is no time"),
        ("<send event='a' id='after.b.0'/>", "looks like a timer"),
        ("<send event='a'><param name='x' location='y'/></send>", "<param> is not carried over"),
        ("<send event='a'><param name='x' expr='y'/></send>", "`y` is no JSON"),
        ("<cancel/>", "<cancel> names nothing"),
    ],
)
def test_other_content_is_refused_by_name_and_line(content: str, told: str) -> None:
    """Nothing is dropped."""
    with pytest.raises(DefinitionError, match=told):
        entered(content)


@pytest.mark.parametrize(
    ("document", "told"),
    [
        ("<datamodel><data id='x'/></datamodel><state id='a'/>", "<datamodel> is not carried over .*line 1"),
        ("<script/><state id='a'/>", "<script> is not carried over"),
        ("<state id='a'><invoke type='scxml' src='x'/></state>", "<invoke> is not carried over .*<invoke 'x'>"),
        ("<state id='a'><invoke type='stateward' src='x'/></state>", "`x` is not among the registry's activities"),
        ("<state id='a'><invoke type='stateward' src='work'/><invoke/></state>", "A state has one activity"),
        ("<state id='a'><invoke type='stateward' src='work'/><state/></state>", "in a state with states inside"),
        ("<final id='a'><donedata><param name='x' expr='1'/></donedata></final>", "<donedata> is not carried over"),
        ("<state id='a'><onexit><log/></onexit><onexit><log/></onexit></state>", "There is a second <onexit>"),
    ],
)
def test_what_belongs_to_a_data_model_or_another_session_is_refused(document: str, told: str) -> None:
    """With what to do instead."""
    with pytest.raises(DefinitionError, match=told):
        read(document)


@pytest.mark.parametrize("attributes", ['datamodel="ecmascript"', 'binding="late"'])
def test_an_expression_language_is_refused(attributes: str) -> None:
    """`null` and our own are not."""
    with pytest.raises(DefinitionError, match=r"data model is `ecmascript`|Late binding"):
        read("<state id='a'/>", attributes=attributes)
    assert read("<state id='a'/>", attributes='datamodel="null"').node("a").kind == "atomic"
