"""Charts as Mermaid text."""

from __future__ import annotations

from stateward.chart.compiler import build
from stateward.chart.draw import mermaid
from stateward.chart.state import State, Superstate
from stateward.chart.transition import on
from tests.chart.machines.choice import choice
from tests.chart.machines.regions import regions
from tests.chart.machines.working import working

EXPECTED = """\
stateDiagram-v2
    [*] --> WORKING
    state "WORKING" as WORKING {
        [*] --> WORKING__PLAN
        state "H" as WORKING___history_
        state "PLAN" as WORKING__PLAN
        state "ACT" as WORKING__ACT
        state "REFLECT" as WORKING__REFLECT
        WORKING__PLAN --> WORKING__ACT
        WORKING__ACT --> WORKING__REFLECT
        WORKING__REFLECT --> WORKING__PLAN : [needs_more]
    }
    note right of WORKING
        12 turns
    end note
    state "PAUSED" as PAUSED
    state "DONE" as DONE
    DONE --> [*]
    WORKING --> PAUSED : pause
    WORKING --> DONE : [said_stop]
    WORKING__REFLECT --> DONE
    PAUSED --> WORKING___history_ : resume / remember
    classDef active fill:#ffe8a3,stroke:#b8860b,stroke-width:2px
    class WORKING__ACT active
"""


def test_a_drawing_shows_nesting_history_guards_actions_and_notes() -> None:
    """The picture is complete, and the same every time."""
    assert mermaid(working(), highlight=["WORKING.ACT"], notes={"WORKING": "12 turns"}) == EXPECTED


def test_regions_are_drawn_apart() -> None:
    """Regions of a parallel state are separated."""
    assert mermaid(regions()).count("--\n") == 1


def test_what_holds_everywhere_is_drawn_from_any_state() -> None:
    """A reaction of the whole chart has an origin of its own."""
    assert "any_state --> FAILED : error.guard [lambda]" in mermaid(choice())


def test_states_whose_paths_look_alike_keep_apart() -> None:
    """Identifiers differ even where paths become equal in Mermaid's alphabet."""
    chart = build("alike", [Superstate("A", State("B", on=[on("x", "A__B")])), State("A__B")])
    assert "A__B --> A__B_3 : x" in mermaid(chart)
