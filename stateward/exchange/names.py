"""From ids of a whole document to names beside each other, and back.

Here a state's name is unique among its siblings and its path is made of names. In the other formats an id is unique in
the document. Reading takes the name from the id; writing takes the id from the name where that is unique, else from the
path. An id that is no legal name is written in legal characters; a state without id is named after its place.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence

from stateward.chart.compiler import HISTORY_NAME
from stateward.chart.definition import Node
from stateward.chart.written import NAME, OWN


def is_name(text: str) -> bool:
    """Tell whether a text is a legal name of a state."""
    return NAME.fullmatch(text) is not None and not text.startswith(OWN)


def name_from(id: str) -> str:
    """Return the name for an id: itself if it is legal, else with `_xHH_` for each character that is not.

    Of an id that begins with `__`, as no name does, the first one is written so.

    Args:
        id: An id of another format; not empty.

    >>> name_from("waiting"), name_from("a.b"), name_from("1st")
    ('waiting', 'a_x2E_b', '_x31_st')
    """
    if is_name(id):
        return id
    first = id[0] if re.match(r"[A-Za-z_]", id) and not id.startswith(OWN) else _escaped(id[0])
    return first + "".join(c if re.match(r"[A-Za-z0-9_-]", c) else _escaped(c) for c in id[1:])


def unused(name: str, *, taken: Collection[str]) -> str:
    """Return the name, or with the first number behind it that makes it another than those taken.

    Args:
        name: The name wished for.
        taken: The names that are not free.
    """
    numbered = (f"{name}_{n}" for n in range(2, len(taken) + 3))
    return name if name not in taken else next(other for other in numbered if other not in taken)


def ids_of(nodes: Sequence[Node]) -> tuple[str, ...]:
    """Return an id for each state, unique in the chart and without dots; the root's is empty.

    The id is the name if no other state has it; else the path, joined with `-`. A dot would divide the tokens of
    `done.state.<id>`, so that the completion of an inner state would look like that of the outer.

    Args:
        nodes: The chart's states, the root first.
    """
    often = Counter(_readable(node.name) for node in nodes[1:])
    taken: set[str] = {name for name, count in often.items() if count == 1}
    ids = [""]
    for node in nodes[1:]:
        name = _readable(node.name)
        if often[name] > 1 or node.name == HISTORY_NAME:
            name = unused("-".join(_readable(part) for part in node.path.split(".")), taken=taken)
            taken.add(name)
        ids.append(name)
    return tuple(ids)


def _readable(name: str) -> str:
    return "history" if name == HISTORY_NAME else name


def _escaped(character: str) -> str:
    return f"_x{ord(character):02X}_"
