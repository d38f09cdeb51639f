"""How the control value is stored: each checkpoint of a run holds it, so that it says nothing twice and nothing empty.

What a run has from its start until something is said of it is left out; the three hashes that it is pinned to are one
text; counts of entries are a tree, `{"A": {"": 1, "B": 2}}` for `A` and `A.B`; and that a step is the end of its
state's activity goes without saying. Who reads a stored value makes it whole first; what an earlier release stored,
said in full, is read as well.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Any, cast

_UNSAID = frozenset({"history", "entries", "asks", "ended", "brought", "failed", "timers", "event", "reason"})
_ENDED = "done.activity."
"""How the event of an activity's end begins; the state's path follows."""
_PARTS = ("chart", "policy", "schema")
_DIGITS = 64
"""Hexadecimal digits of SHA-256."""
_TEXT = 128
"""Characters of three of them in base 64."""


def unsaid(*, branch: str) -> dict[str, Any]:
    """Return what a run has from its start until something is said of it.

    Args:
        branch: The session's first line of checkpoints.
    """
    tables: dict[str, Any] = {"history": {}, "entries": {}, "asks": {}, "ended": {}, "brought": {}, "failed": {}}
    return {**tables, "timers": {}, "event": None, "reason": None, "branch": branch}


def short(control: Mapping[str, Any], *, branch: str) -> dict[str, Any]:
    """Return a control value as it is stored.

    Args:
        control: The value.
        branch: The session's first line of checkpoints, on which most runs are.
    """
    stored = {key: value for key, value in control.items() if value or key not in _UNSAID}
    if stored.get("branch") == branch:
        del stored["branch"]
    if "run" in stored:
        stored["run"] = short_run(stored["run"])
    if "entries" in stored:
        stored["entries"] = _tree(stored["entries"])
    last = stored.get("last")
    if last and last.get("event") == f"{_ENDED}{last.get('state')}":
        stored["last"] = {key: value for key, value in last.items() if key != "event"}
    return stored


def full(stored: Mapping[str, Any], *, branch: str) -> dict[str, Any]:
    """Return a control value as it was before it was stored.

    Args:
        stored: From a checkpoint; empty before the first run.
        branch: The session's first line of checkpoints.
    """
    if not stored:
        return {}
    control = {**unsaid(branch=branch), **stored}
    if "run" in control:
        control["run"] = full_run(control["run"])
    if isinstance(control["entries"], dict):
        control["entries"] = _counts(cast("dict[str, Any]", control["entries"]))
    last = control.get("last")
    if isinstance(last, dict) and "event" not in last:
        told = cast("dict[str, Any]", last)
        control["last"] = {**told, "event": f"{_ENDED}{told.get('state', '')}"}
    return control


def short_run(run: Any) -> Any:  # whatever was stored
    """Return what a control value says of its run, with the hashes as one text.

    Args:
        run: What it says; itself where its hashes are not three of SHA-256.
    """
    if not isinstance(run, dict):
        return cast("object", run)
    said = cast("dict[str, Any]", run)
    try:
        chart, policy, schema = (said["hashes"][part] for part in _PARTS)
        data = bytes.fromhex(chart + policy + schema)
    except (TypeError, KeyError, ValueError):
        return said
    # Whitespace, and digits in upper case, would not come back; nor would anything that stands beside the three.
    if len(said["hashes"]) != len(_PARTS) or {len(chart), len(policy), len(schema)} != {_DIGITS}:
        return said
    return {**said, "hashes": b64encode(data).decode()} if data.hex() == chart + policy + schema else said


def full_run(run: Any) -> Any:  # whatever was stored
    """Return what a control value says of its run, with each hash under its name.

    Args:
        run: What is stored; itself where no hashes are one text, which its reader then takes as it is or refuses.
    """
    if not isinstance(run, dict):
        return cast("object", run)
    said = cast("dict[str, Any]", run)
    packed: object = said.get("hashes")
    if not isinstance(packed, str) or len(packed) != _TEXT:
        return said
    try:
        digits = b64decode(packed, validate=True).hex()
    except ValueError:
        return said
    parts = {part: digits[at * _DIGITS : (at + 1) * _DIGITS] for at, part in enumerate(_PARTS)}
    return {**said, "hashes": parts}


def _tree(entries: Mapping[str, Any]) -> dict[str, Any]:
    """Put counts by path under the names that their paths begin with."""
    top: dict[str, Any] = {}
    nodes = {"": top}
    for path, count in entries.items():
        around, _, name = path.rpartition(".")
        node = nodes[around] if around in nodes else _node(nodes, around)
        if path in nodes and path:
            nodes[path][""] = count
        else:
            node[name] = count
    return top


def _node(nodes: dict[str, dict[str, Any]], path: str) -> dict[str, Any]:
    """Return what is under a path, which may have a count of its own by now."""
    around, _, name = path.rpartition(".")
    outer = nodes[around] if around in nodes else _node(nodes, around)
    made = outer[name] = {"": outer[name]} if name in outer else {}
    nodes[path] = made
    return made


def _counts(tree: Mapping[str, Any], path: str = "") -> dict[str, Any]:
    counts: dict[str, Any] = {}
    for name, held in tree.items():
        whole = f"{path}.{name}" if path and name else path or name
        if type(held) is int:
            counts[whole] = held
        elif isinstance(held, dict):
            counts |= _counts(cast("dict[str, Any]", held), whole)
        else:
            counts[whole] = held
    return counts
