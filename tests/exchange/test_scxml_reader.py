"""SCXML documents as definitions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from stateward.chart.definition import Activity, Block
from stateward.chart.guard import Bound, bind_pure
from stateward.errors import DefinitionError, UnknownTarget
from stateward.exchange.content import Constant, bound
from stateward.exchange.element import Element
from stateward.exchange.registry import Registry
from stateward.exchange.scxml_ids import ScxmlIds
from stateward.exchange.scxml_reader import read_scxml
from stateward.simulation import Simulation
from tests.exchange.machines.charts import CHARTS, REGISTRY

MACHINES = Path(__file__).parent / "machines"
XMLNS = 'xmlns="http://www.w3.org/2005/07/scxml" version="1.0"'


def is_night(state: Any) -> bool:
    """A guard."""
    return state["night"]


def noting(name: str) -> Callable[[Any], Any]:
    """Return an action that writes down its name."""
    return lambda state: {"log": [*state["log"], name]}


def read(inside: str, *, attributes: str = XMLNS, **given: Any) -> Any:
    return read_scxml(f"<scxml {attributes}>{inside}</scxml>", **given)


@pytest.mark.parametrize("name", CHARTS)
def test_a_golden_document_is_the_chart_it_was_written_for(name: str) -> None:
    """Three charts: timers, nested states with deep history, regions that join."""
    chart = read_scxml((MACHINES / f"{name}.scxml").read_bytes(), registry=REGISTRY)
    assert chart.to_json() == CHARTS[name]().to_json()


@pytest.fixture
def player() -> Simulation:
    """A document that is not ours, at its beginning."""
    text = (MACHINES / "player.scxml").read_text()
    return Simulation(read_scxml(text, registry=Registry.of(guards=[is_night])), state={"night": True})


def test_ids_become_names_and_paths(player: Simulation) -> None:
    """An id that is no name is spelled in legal characters, a state without id is named after its place."""
    assert "player_x2E_on.playing.track.state_1" in player.chart.by_path
    assert player.chart.node("player_x2E_on.before").deep


def test_a_document_of_others_does_what_scxml_says(player: Simulation) -> None:
    """The raised click completes one region, and `done.state.track` means that state alone."""
    assert player.at == ("player_x2E_on.stopped",)
    assert player.send("play") == ("player_x2E_on.stopped",)
    assert [(due, event.name) for due, _, event in player.pending] == [(1.5, "sleep")]


def test_deep_history_and_in_work_in_a_document_of_others() -> None:
    """Sleep is heard while nothing is loud; `play` leads back to where it was."""
    text = (MACHINES / "player.scxml").read_text().replace('event="click end"', 'event="end"')
    player = Simulation(read_scxml(text, registry=Registry.of(guards=[is_night])), state={"night": True})
    player.send("play")
    player.send("up")
    loud = ("player_x2E_on.playing.track.state_1", "player_x2E_on.playing.volume.loud")
    assert player.wait(2) == loud
    assert (player.send("down.now")[1], player.send("up")) == (loud[1].replace("loud", "quiet"), loud)
    player.send("down")
    assert (player.send("sleep"), player.send("play")) == (("off",), (loud[0], loud[1].replace("loud", "quiet")))


def test_the_end_of_a_document_is_left() -> None:
    """SCXML appendix D, exitInterpreter: the exit content of the top final state runs when the session ends."""
    log = Registry.of(actions={"in": noting("in"), "out": noting("out")})
    action = '<sw:action xmlns:sw="urn:stateward:1" name="{}"/>'
    inside = f"<onentry>{action.format('in')}</onentry><onexit>{action.format('out')}</onexit>"
    chart = read(f'<final id="F">{inside}</final>', registry=log)
    assert Simulation(chart, state={"log": []}).data.state["log"] == ["in", "out"]


def test_a_failing_guard_is_the_error_that_scxml_names(player: Simulation) -> None:
    """`error.execution` means what the kernel raises of guards, actions and delays."""
    heard = [t.events for t in player.chart.transitions if "error.execution" in t.events]
    assert heard == [("error.execution", "error.guard", "error.action", "error.delay")]


def test_without_initial_a_state_begins_in_its_first() -> None:
    """Not in a history state."""
    chart = read('<state><history><transition target="b"/></history><state id="a"/><state id="b"/></state>')
    assert [chart.nodes[state].path for state in chart.nodes[1].initial] == ["state_1.a"]


def test_a_state_may_begin_in_several_regions() -> None:
    """As an attribute of ids."""
    regions = "".join(f'<state id="{name}"><state/><state id="{name * 2}"/></state>' for name in "xz")
    chart = read(f'<parallel id="p">{regions}</parallel>', attributes=f'{XMLNS} initial="xx zz"')
    assert Simulation(chart, state={}).at == ("p.x.xx", "p.z.zz")


def test_completion_of_a_dotted_id_is_heard_by_its_first_tokens() -> None:
    """`done.state.a` is all states whose id begins with that token, and a nested id does not matter."""
    inner = '<state id="a.b"><final id="c"/></state><state id="a.d"/><state id="e"/>'
    chart = read(f'{inner}<state id="x"><transition event="done.state.a" target="e"/></state>')
    assert chart.transitions[0].events == ("done.state.a_x2E_b", "done.state.a_x2E_d")


def test_namespaces_are_ignored_only_if_the_caller_says_so() -> None:
    """An editor's elements and attributes."""
    text = '<state id="a" xmlns:e="urn:editor" e:x="1"><e:size/></state>'
    assert read(text, ignoring=["urn:editor"]).node("a").kind == "atomic"
    with pytest.raises(DefinitionError, match=r"attribute `x` of the namespace `urn:editor` .*<state 'a'>, line 1"):
        read(text)
    with pytest.raises(DefinitionError, match="<size> cannot stand in <state>"):
        read(text.replace(' e:x="1"', ""))


@pytest.mark.parametrize(
    ("inside", "told"),
    [
        ("\n<state id='a'><transition target='b'/></state>", r"`b` is the id of no state .*<transition 'b'>, line 2"),
        ("<state id='a'/><state id='a'/>", "`a` names two states"),
        ("<state id='a'><state id='b'/></state><state id='b'/>", "Two states have the id `b`"),
        ("<state id='a' initial='b'/><state id='b'/>", "`initial` needs states inside"),
        ("<state id='a' initial='c'><state id='b'/></state><state id='c'/>", "`c` is not inside `a`"),
        ("<state id='a'><initial/><state id='b'/></state>", "<initial> needs one transition"),
        ("<state id='a'><history id='h'/><state id='b'/></state>", "<history> needs one transition"),
        ("<state id='a'><history type='x'><transition target='b'/></history><state id='b'/></state>", "`x` is no type"),
        (
            "<state id='a'><history><transition target='c'/></history><state id='b'/></state><state id='c'/>",
            "not inside",
        ),
        ("<state id='a'><transition/></state>", "needs an event, a condition or a target"),
        ("<state id='a'><transition event='e' type='x'/></state>", "`x` is no type of a transition"),
        ("<state id='a'><transition event='a:b'/></state>", "`a:b` is not an event name .*line 1"),
        ("<state id='a'><transition event='done.state.x' target='a'/></state>", "`x` is the id of no state"),
        ("<state id='a'><transition event='e' target='a b'/></state><state id='b'/>", "cannot be active together"),
        ("<state id='a'><transition event='e' cond='x'/></state>", "`x` is not among the registry's guards"),
        ("<state id='a' final='true'/>", "attribute `final` of <state>"),
        ("<parallel id='a'><final id='b'/></parallel>", "<final> cannot stand in <parallel>"),
        ("<state id='a'>text</state>", "There is text in <state>: `text`"),
        ("<state id='a'><state id='b'/><invoke type='x'/></state>", "<invoke> is not carried over"),
        ("", "no state inside to begin in"),
    ],
)
def test_what_is_wrong_is_refused_by_element_and_line(inside: str, told: str) -> None:
    """With what to do about it."""
    with pytest.raises(DefinitionError, match=told) as caught:
        read(inside)
    assert caught.value.fix


def test_another_root_is_refused() -> None:
    """Also one of another namespace."""
    with pytest.raises(DefinitionError, match="root is <svg>"):
        read_scxml("<svg/>")
    with pytest.raises(DefinitionError, match="root is <scxml>"):
        read("<state/>", attributes='xmlns="urn:x"')


@pytest.mark.parametrize(
    ("replaced", "by", "told"),
    [
        ('event="after.YELLOW.0" target', 'event="x" target', "Nothing sends `x`"),
        ('" target="RED" sw:after="true"/>', '"/>', "No transition reacts to after.YELLOW.0"),
        ('<state id="NIGHT">', '<state id="x" sw:root="root"/><state id="NIGHT">', "beside the one that stands"),
        ('sw:version="1"', 'sw:version="1" sw:events="resume2"', "event `resume2` has a type"),
        ('target="DAY"/>', 'target="DAY" sw:completion="true"/>', "A completion speaks of its own state"),
        ('<state id="NIGHT">', '<state id="NIGHT" sw:colour="x">', "attribute `colour`"),
        ('<cancel sendid="after.RED.0"/>', '<sw:action name="ring"/>', "<action> would be lost"),
        ('<send event="after.RED.1"', '<log/><send event="after.RED.1"', "<log> would be lost"),
    ],
)
def test_marks_of_ours_that_do_not_fit_are_refused(replaced: str, by: str, told: str) -> None:
    """Somebody changed one half of what belongs together."""
    text = (MACHINES / "traffic_light.scxml").read_text()
    assert replaced in text
    with pytest.raises(DefinitionError, match=told):
        read_scxml(text.replace(replaced, by), registry=REGISTRY)


def test_an_unknown_target_is_an_error_of_its_own_with_the_known_ids() -> None:
    """As for charts written in Python."""
    with pytest.raises(UnknownTarget, match=r"Known ids: `a`, `b`"):
        read("<state id='a'/><state id='b'/>", attributes=f'{XMLNS} initial="c"')


class Loud:
    """Content that takes everything, and says what it was given."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def document(self, root: Element, *, models: Sequence[Element], scripts: Sequence[Element], ids: ScxmlIds) -> Block:
        self.told.extend(f"{element.name} {element.line}" for element in (*models, *scripts))
        return ()

    def condition(self, transition: Element, *, ids: ScxmlIds) -> Bound:
        self.told.append(f"cond {transition.get('cond')}")
        return bind_pure(is_night, where="")

    def block(self, containers: Sequence[Element], *, ids: ScxmlIds) -> Block:
        self.told.extend(child.name for container in containers for child in container.children)
        return ()

    def result(self, donedata: Element, *, ids: ScxmlIds) -> Bound | None:
        self.told.append(donedata.name)
        return bound(Constant(value=1))

    def activity(self, invokes: Sequence[Element], *, path: str, ids: ScxmlIds) -> Activity | None:
        self.told.append(f"invoke {path}")
        return None

    def delay(self, send: Element, *, ids: ScxmlIds) -> float | Bound:
        raise AssertionError


def test_whoever_interprets_content_gets_all_of_it() -> None:
    """Data models at any depth, every block, and what the registry would refuse."""
    content = Loud()
    read(
        "<script/><state id='a'><datamodel/><onentry><assign/></onentry><onentry><if/></onentry>"
        "<invoke/><transition cond='x > 1' target='b'><foreach/></transition></state><final id='b'><donedata/></final>",
        content=content,
    )
    assert content.told == ["invoke a", "cond x > 1", "foreach", "assign", "if", "donedata", "datamodel 1", "script 1"]
