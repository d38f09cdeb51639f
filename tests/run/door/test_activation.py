"""One entry into a state."""

from __future__ import annotations

from stateward.run.door.activation import Activation
from stateward.run.store.entry import CallKey


def test_key_of_a_call_names_all_it_belongs_to() -> None:
    """Session, run, branch, path, activation and call."""
    activation = Activation(session="s", run="r", branch="main", path="A.B", number=2, tenant="acme")
    key = CallKey(session="s", run="r", branch="main", path="A.B", activation=2, call=3)
    assert activation.key(3) == key
    assert activation.key(3).idempotency_key != activation.key(4).idempotency_key
