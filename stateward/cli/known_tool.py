"""Whether anybody who could have a tool is on record, for names that an operator writes by hand."""

from __future__ import annotations

from collections.abc import Iterator

from stateward.govern.pattern import is_one_of
from stateward.run.pinned_policy import stored
from stateward.run.plan import Machine
from stateward.run.store.database import Database

_NOBODYS = "no.tool/has this name"
"""What takes this for a tool's name takes any, and knows none."""


def is_known_tool(name: str, *, database: Database, machine: Machine | None, session: str | None) -> bool:
    """Tell whether a tool of this name is on record: in the graph, in a policy, or among the calls of a session.

    Args:
        name: The tool's name.
        database: Where the policies are that runs were pinned to.
        machine: The graph at hand; None if there is none.
        session: The session that it is about; None for all.
    """
    if machine is not None and name in machine.tools:
        return True
    if any(
        is_one_of(name, patterns=[pattern]) and not is_one_of(_NOBODYS, patterns=[pattern])
        for pattern in _patterns(database)
    ):
        return True
    calls = () if session is None else database.journal.entries(session)
    return any(call.kind == "tool" and call.name == name for call in calls)


def _patterns(database: Database) -> Iterator[str]:
    for policies in stored(database, "").values():
        for tools in (policy.tools for policy in policies.values() if policy.tools is not None):
            yield from (rule.match for rule in tools.rules)
            yield from tools.discovered or ()
            yield from (pattern for group in tools.separate for pattern in group.match)
