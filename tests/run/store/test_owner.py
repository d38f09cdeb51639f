"""Whose a session is."""

from __future__ import annotations

import pytest

from stateward.errors import UnknownSession
from stateward.run.store.owner import no_session, refuse_stranger


@pytest.mark.parametrize(("owner", "tenant"), [("acme", "acme"), ("acme", ""), ("", "acme"), ("", "")])
def test_the_owner_the_host_and_the_first_to_come_are_let_in(owner: str, tenant: str) -> None:
    """A session that is nobody's yet may become anyone's."""
    refuse_stranger("s", owner=owner, tenant=tenant, where="memory:")


@pytest.mark.parametrize("tenant", ["acme-corp", "acm", "ACME", " acme"])
def test_a_stranger_is_told_that_there_is_no_such_session(tenant: str) -> None:
    """In the same words as of one that is not there."""
    with pytest.raises(UnknownSession) as refused:
        refuse_stranger("s", owner="acme", tenant=tenant, where="memory:")
    assert str(refused.value) == str(no_session("s", where="memory:"))
