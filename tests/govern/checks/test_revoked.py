"""What was revoked is refused, whatever the policy says."""

from __future__ import annotations

import pytest

from stateward.govern.decision import Allow, CallKind, CallRequest, Decision, Deny, decide
from stateward.govern.effective import effective
from stateward.govern.revocation import Revocation, Revoked


def asked(kind: Revoked, name: str, *, call: CallKind = "tool", path: str = "WORK.ACT") -> Decision:
    """Ask for the call `pay` after something was revoked."""
    request = CallRequest(kind=call, name="pay", arguments={}, path=path, declared=frozenset({"pay"}))
    revoked = (Revocation(kind=kind, name=name, by="ann", reason="a leak"),)
    return decide(effective([], path=path), request=request, spent={}, revoked=revoked)


@pytest.mark.parametrize(
    ("kind", "name", "call", "path"),
    [
        ("tool", "pay", "tool", "WORK.ACT"),
        ("agent", "pay", "model", "WORK.ACT"),
        ("agent", "helper", "tool", "WORK.ACT/helper/inner"),
        ("state", "WORK", "tool", "WORK.ACT"),
        ("state", "WORK.ACT", "model", "WORK.ACT"),
    ],
)
def test_it_is_refused_with_who_and_why(kind: Revoked, name: str, call: CallKind, path: str) -> None:
    """The author of the call reads the reason."""
    refusal = asked(kind, name, call=call, path=path)
    assert isinstance(refusal, Deny)
    assert refusal.reason.endswith("was revoked by ann: a leak")


@pytest.mark.parametrize(
    ("kind", "name", "call"),
    [("tool", "pay", "model"), ("agent", "pay", "tool"), ("state", "WORK.A", "tool"), ("tool", "pay2", "tool")],
)
def test_what_only_looks_alike_is_free(kind: Revoked, name: str, call: CallKind) -> None:
    """A tool is no model, and a path is no beginning of letters."""
    assert asked(kind, name, call=call) == Allow()
