"""Charts as Mermaid text."""

from __future__ import annotations

import re

from stateward.chart.compiler import build
from stateward.chart.draw import mermaid
from stateward.chart.note import Note
from stateward.chart.state import State, Superstate
from stateward.chart.transition import on
from tests.chart.machines.choice import choice
from tests.chart.machines.regions import regions
from tests.chart.machines.shipping import shipping
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
    WORKING --> DONE : always [said_stop]
    WORKING__REFLECT --> DONE
    PAUSED --> WORKING___history_ : resume / remember
    classDef active fill:#ffe9ad,stroke:#b7791f,stroke-width:2px
    class WORKING__ACT active
"""


def test_a_drawing_shows_nesting_history_guards_actions_and_notes() -> None:
    """The picture is complete, and the same every time."""
    assert mermaid(working(), active=["WORKING.ACT"], notes={"WORKING": [Note("12 turns")]}) == EXPECTED


def test_regions_are_drawn_apart() -> None:
    """Regions of a parallel state are separated."""
    assert mermaid(regions()).count("--\n") == 1


def test_timers_and_both_histories_are_drawn() -> None:
    """In the same words as in every other drawing."""
    text = mermaid(shipping())
    assert "QUEUE --> SENT : after 3600s" in text
    assert 'state "H*" as HANDLING___history_' in text
    assert 'state "H" as HANDLING__GOODS___history_' in text


def test_what_leaves_nothing_is_a_note() -> None:
    """An arrow to itself would say that the state is left."""
    assert "note right of HANDLING__MONEY__DUNNING\n                note / count\n" in mermaid(shipping())


def test_a_transition_with_several_targets_parts_at_a_bar() -> None:
    """Mermaid's fork."""
    text = mermaid(shipping())
    (fork,) = re.findall(r"state (fork_\d+) <<fork>>", text)
    assert f"NEW --> {fork} : known" in text
    assert f"{fork} --> HANDLING__GOODS__PACK\n" in text
    assert f"{fork} --> HANDLING__MONEY__DUNNING\n" in text


def test_the_way_of_a_run_is_marked() -> None:
    """States by a class, arrows by a check mark; what is active is not also called visited."""
    chart = shipping()
    taken = [t.index for t in chart.transitions if t.events == ("order",)]
    text = mermaid(chart, active=["QUEUE"], visited=["NEW", "QUEUE"], taken=taken)
    assert "NEW --> HANDLING : ✓ order" in text
    assert "class QUEUE active" in text
    assert "class NEW visited" in text


def test_what_holds_everywhere_is_drawn_from_any_state() -> None:
    """A reaction of the whole chart has an origin of its own."""
    assert "any_state --> FAILED : error.guard [lambda]" in mermaid(choice())


def test_states_whose_paths_look_alike_keep_apart() -> None:
    """Identifiers differ even where paths become equal in Mermaid's alphabet."""
    chart = build("alike", [Superstate("A", State("B", on=[on("x", "A__B")])), State("A__B")])
    assert "A__B --> A__B_3 : x" in mermaid(chart)
