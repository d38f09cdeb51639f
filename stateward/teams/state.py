"""The state of a team: the conversation with the user, and one small record for each block and member, by name.

A member is told its task in `team[NAME]["task"]` and leaves its answer in `team[NAME]["answer"]`: that is all that
blocks know of each other, so that any of them can be a member of any other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, cast

from langchain_core.messages import BaseMessage
from typing_extensions import TypedDict

from stateward.run.messages import Messages

TEAM = "team"
"""The state key of the records."""
TASK = "task"
"""The field of a member's record that says what it is to do."""
ANSWER = "answer"
"""The field of a member's record that says what it came to."""

Record = Mapping[str, Any]
"""What a block keeps of itself: a few fields of plain JSON."""


def by_name(had: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Merge records by name, then by field.

    Args:
        had: The records so far, by name.
        new: The update; a field that is None is removed, and so is a record that is None.

    Returns:
        The records, anew.
    """
    merged = dict(had)
    for name, record in new.items():
        if record is None:
            merged.pop(name, None)
            continue
        fields = {**merged.get(name, {}), **record}
        merged[name] = {field: value for field, value in fields.items() if value is not None}
    return merged


class TeamState(TypedDict, total=False):
    """What the building blocks need of a state; a chart's own state inherits it and adds its keys."""

    messages: Messages
    """The conversation with the user."""
    team: Annotated[dict[str, Any], by_name]
    """One small record for each block and member, by name; plain JSON."""


def value_of(state: object, key: str) -> Any:
    """Return a key of the state, whatever the schema is.

    Args:
        state: A mapping, or an instance of a dataclass or Pydantic model.
        key: The key.

    Returns:
        Its value; None when it has none.
    """
    if isinstance(state, Mapping):
        return cast("Mapping[str, Any]", state).get(key)
    return getattr(state, key, None)


def record_of(state: object, name: str) -> Record:
    """Return the record of a block or member.

    Args:
        state: The state.
        name: The block's name.

    Returns:
        Its fields; none when it has left nothing yet.
    """
    records = cast("Mapping[str, Record]", value_of(state, TEAM) or {})
    return records.get(name) or {}


def recorded(name: str, **fields: Any) -> dict[str, Any]:
    """Return the update that writes fields of a record.

    Args:
        name: The block's name.
        fields: Plain JSON; None removes a field.
    """
    return {TEAM: {name: fields}}


def joined(*updates: Mapping[str, Any]) -> dict[str, Any]:
    """Put updates together; what they say of records is merged, of other keys the last counts.

    Args:
        updates: In order.
    """
    made: dict[str, Any] = {}
    for update in updates:
        records = _merged(made.get(TEAM) or {}, update.get(TEAM) or {})
        made |= update
        if records:
            made[TEAM] = records
    return made


def _merged(had: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Put two updates of records together: what is removed stays to be removed."""
    both = {name: {**had[name], **new[name]} for name in had.keys() & new.keys() if had[name] and new[name]}
    return {**had, **new, **both}


def task_of(state: object, name: str) -> str:
    """Return what a member is to do: the task that it was told, else the user's last message.

    Args:
        state: The state.
        name: The member's name.

    Returns:
        The text; empty when nobody said anything.
    """
    told = record_of(state, name).get(TASK)
    return str(told) if told is not None else last_said(value_of(state, "messages") or ())


def told(name: str, task: str) -> dict[str, Any]:
    """Return the update that tells a member its task, and forgets its last answer.

    Args:
        name: The member's name.
        task: What it is to do.
    """
    return recorded(name, **{TASK: task, ANSWER: None})


def answered(name: str, value: Any) -> dict[str, Any]:
    """Return the update that leaves a member's answer.

    Args:
        name: The member's name.
        value: Plain JSON.
    """
    return recorded(name, **{ANSWER: value})


def answer_of(state: object, name: str) -> Any:
    """Return what a member came to.

    Args:
        state: The state.
        name: The member's name.

    Returns:
        Its answer; None when it has none.
    """
    return record_of(state, name).get(ANSWER)


def last_said(messages: Sequence[BaseMessage]) -> str:
    """Return the text of the last message of a person.

    Args:
        messages: A conversation.

    Returns:
        The text; empty when no person said anything.
    """
    return next((message.text for message in reversed(messages) if message.type == "human"), "")
