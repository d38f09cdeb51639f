"""Branches: the named lines of checkpoints of a session.

A session begins on `main`. Whoever goes on from a checkpoint that is not the last of its line starts a line of its own:
`main.1`, `main.2`, `main.1.1`, or a name that is given. The latest checkpoint of a session knows all of them: its
control channel carries, by name, where each began and, when the session has turned to another, where it stood then.

| key of a branch | value |
|---|---|
| `of` | the branch it was forked from; nothing for `main` |
| `from` | id of the checkpoint it was forked from |
| `step` | LangGraph's number of that checkpoint |
| `asks` | ask of that checkpoint -> the ask that stands for it on this branch; older ones are found over `of` |
| `head` | id of its last checkpoint, while the session is on another branch |
| `status`, `at` | status and active states there |
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from stateward.errors import InputRefused, NotExpected
from stateward.run.checkpoint import MAIN_BRANCH, Json

KEY = "branches"
"""The key of the control channel."""
MAX_NAME = 60
"""Characters of a name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """One line of checkpoints of a session."""

    name: str
    status: str
    """One of the status words, where it stands."""
    at: tuple[str, ...]
    """Paths of the active innermost states there."""
    head: str
    """Id of its last checkpoint."""
    current: bool
    """Whether it is the one that calls of the session go on with."""
    of: str = ""
    """The branch it was forked from; nothing for `main`."""
    forked_from: str = ""
    """Id of the checkpoint it was forked from."""
    forked_at: int | None = None
    """LangGraph's number of that step."""


def known(control: Mapping[str, Any], *, head: str) -> dict[str, Json]:
    """Return what the latest checkpoint of a session knows of its branches, the one it is on included.

    Args:
        control: Its control channel.
        head: Its id.
    """
    current = control.get("branch") or MAIN_BRANCH
    told: Mapping[str, Json] = control.get(KEY) or {}
    table = dict(told)
    standing = {"head": head, "status": control.get("status", ""), "at": list(control.get("at") or ())}
    table[current] = {**table.get(current, {}), **standing}
    return table


def branches_in(control: Mapping[str, Any], *, head: str) -> tuple[Branch, ...]:
    """Return the branches of a session, in the order in which they were begun.

    Args:
        control: The control channel of its latest checkpoint; empty for a session that never ran.
        head: Its id.
    """
    if not control:
        return ()
    current = control.get("branch") or MAIN_BRANCH
    table = known(control, head=head)
    names = sorted(table, key=lambda name: (name != MAIN_BRANCH, table[name].get("no", 0)))
    return tuple(_branch(name, table[name], current=name == current) for name in names)


def _branch(name: str, row: Mapping[str, Any], *, current: bool) -> Branch:
    return Branch(
        name=name,
        status=row.get("status", ""),
        at=tuple(row.get("at") or ()),
        head=row.get("head", ""),
        current=current,
        of=row.get("of", ""),
        forked_from=row.get("from", ""),
        forked_at=row.get("step"),
    )


def branch_named(name: str, *, known: Sequence[Branch], session: str) -> Branch:
    """Find a branch by its name.

    Args:
        name: The name.
        known: The session's branches.
        session: The session's id, for messages.

    Returns:
        The branch.

    Raises:
        NotExpected: There is none of that name.
    """
    found = next((branch for branch in known if branch.name == name), None)
    if found is None:
        names = ", ".join(branch.name for branch in known)
        raise NotExpected(f"Session `{session}` has no branch `{name}`", fix=f"Its branches: {names or 'none yet'}.")
    return found


def aliases(control: Mapping[str, Any]) -> Mapping[str, str]:
    """Return which asks of the branch a session is on stand for which of those it was forked from, one after another.

    Args:
        control: A control channel.
    """
    table: Mapping[str, Json] = control.get(KEY) or {}
    found: dict[str, str] = {}
    for row in reversed(list(_line(table, control.get("branch") or MAIN_BRANCH))):
        asks: Mapping[str, str] = row.get("asks") or {}
        # What was not put again is closed; a row of an earlier release names the asks of all branches before it.
        found = {**{first: asks[ask] for first, ask in found.items() if ask in asks}, **asks}
    return found


def _line(table: Mapping[str, Json], name: str) -> Iterator[Json]:
    """A branch and those it was forked from, each from the next; one that is not known, or was before, ends it."""
    seen: set[str] = set()
    while name in table and name not in seen:
        seen.add(name)
        yield table[name]
        name = table[name].get("of", "")


def with_new(
    table: Mapping[str, Json],
    name: str,
    *,
    control: Mapping[str, Any],
    head: str,
    step: int | None,
    asks: Mapping[str, str],
) -> dict[str, Json]:
    """Return the branches of a session together with one that begins at a checkpoint.

    Args:
        table: Those that are known.
        name: The new branch's.
        control: The control channel of the checkpoint.
        head: The checkpoint's id.
        step: LangGraph's number of it.
        asks: Ask of the checkpoint to the one that stands for it.
    """
    row: Json = {
        "no": len(table),
        "of": control.get("branch") or MAIN_BRANCH,
        "from": head,
        "step": step,
        "asks": dict(asks),
    }
    return {**table, name: row}


def renamed(control: Mapping[str, Any], payload: object) -> object:
    """Let an answer name an ask as the checkpoint did that its branch was forked from.

    Args:
        control: The control channel of the branch.
        payload: What a wait is resumed with, in any of the forms.

    Returns:
        The same, with the asks of the branch.
    """
    stand = aliases(control)
    if not stand or not isinstance(payload, Mapping):
        return payload
    form = dict(cast("Mapping[str, Any]", payload))
    if isinstance(form.get("answers"), Mapping):
        form["answers"] = {stand.get(str(ask), ask): given for ask, given in form["answers"].items()}
    if isinstance(form.get("answered"), Sequence):
        form["answered"] = [stand.get(str(ask), ask) for ask in form["answered"]]
    return form


def chosen_name(name: str | None, *, of: str, taken: Collection[str], session: str) -> str:
    """Choose the name of a new branch.

    Args:
        name: The name that is wanted; None for the next free one.
        of: The branch it is forked from.
        taken: The names that are in use.
        session: The session's id, for messages.

    Returns:
        The name.

    Raises:
        InputRefused: It is no name.
        NotExpected: The session has a branch of that name.
    """
    if name is None:
        home = of if len(f"{of}.{len(taken) + 1}") <= MAX_NAME else MAIN_BRANCH  # forks in line get no longer names
        return next(free for no in range(1, len(taken) + 2) if (free := f"{home}.{no}") not in taken)
    if not name.strip() or name != name.strip() or len(name) > MAX_NAME or not name.isprintable():
        raise InputRefused(
            f"`{name}` is no name of a branch",
            where=f"session `{session}`",
            fix=f"Give 1 to {MAX_NAME} printable characters, none of them blank at either end.",
        )
    if name in taken:
        raise NotExpected(
            f"Session `{session}` has used the name `{name}` for a branch",
            fix=f"Choose another; in use: {', '.join(sorted(taken))}.",
        )
    return name
