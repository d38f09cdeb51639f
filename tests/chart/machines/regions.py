"""Two regions side by side, made from nodes: the authoring tree has no parallel states yet."""

from __future__ import annotations

from stateward.chart.definition import Definition, Node, Transition
from stateward.chart.tables import define


def regions() -> Definition:
    """Build the chart: P holds L (L1, L2) and R (R1, R2); each region ends on its own event."""
    nodes = (
        Node(index=0, name="", path="", kind="compound", parent=-1, children=(1, 8), end=9, initial=(1,)),
        Node(index=1, name="P", path="P", kind="parallel", parent=0, children=(2, 5), end=8, transitions=(2, 3)),
        Node(index=2, name="L", path="P.L", kind="compound", parent=1, children=(3, 4), end=5, initial=(3,)),
        Node(index=3, name="L1", path="P.L.L1", kind="atomic", parent=2, end=4, transitions=(0,)),
        Node(index=4, name="L2", path="P.L.L2", kind="final", parent=2, end=5),
        Node(index=5, name="R", path="P.R", kind="compound", parent=1, children=(6, 7), end=8, initial=(6,)),
        Node(index=6, name="R1", path="P.R.R1", kind="atomic", parent=5, end=7, transitions=(1,)),
        Node(index=7, name="R2", path="P.R.R2", kind="final", parent=5, end=8),
        Node(index=8, name="OUT", path="OUT", kind="final", parent=0, end=9),
    )
    transitions = (
        Transition(index=0, source=3, kind="event", events=("left", "both"), targets=(4,)),
        Transition(index=1, source=6, kind="event", events=("right", "both"), targets=(7,)),
        Transition(index=2, source=1, kind="completion", events=("done.state.P",), targets=(8,)),
        Transition(index=3, source=1, kind="event", events=("both", "abort"), targets=(8,)),
    )
    return define("regions", nodes=nodes, transitions=transitions, events={})
