"""Keys of the audit log, as they are given."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest

import stateward as sw
from stateward.errors import CheckpointError
from stateward.run.store.audit_keys import AUDIT_VARIABLE, key_ring, read_audit_keys

KEY = b"k" * 16


def test_the_first_of_several_makes_new_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the environment has them, in their order."""
    monkeypatch.setenv(AUDIT_VARIABLE, f"new:{b64encode(b'n' * 32).decode()}, old:{b64encode(KEY).decode()}")
    with sw.open("memory:") as database:
        assert database.audit.append({"event": "x"}).startswith("new:")


def test_keys_that_are_given_go_before_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """A caller may fetch them from a vault."""
    monkeypatch.setenv(AUDIT_VARIABLE, f"env:{b64encode(KEY).decode()}")
    with sw.open("memory:", audit_keys=lambda: {"vault": KEY}) as database:
        assert database.audit.append({"event": "x"}).startswith("vault:")


@pytest.mark.parametrize(("keys", "why"), [({}, "there is none"), ({"a": b"short"}, "5 bytes"), ({"a:b": KEY}, "id")])
def test_what_is_no_key_is_refused(keys: Any, why: str) -> None:
    """Nor does the message tell what may be the key."""
    with pytest.raises(CheckpointError, match=why) as caught:
        key_ring(keys)
    assert "a:b" not in str(caught.value)


@pytest.mark.parametrize("text", ["c2VjcmV0", "a:no base 64!"])
def test_a_variable_that_cannot_be_read_is_refused(text: str) -> None:
    """With its name, and without its content."""
    with pytest.raises(CheckpointError, match=AUDIT_VARIABLE) as caught:
        read_audit_keys(text)
    assert "c2Vj" not in str(caught.value)
