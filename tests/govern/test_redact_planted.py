"""No secret of twenty kinds gets through, whatever it is dressed up as."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stateward.govern.redact import redact
from tests.govern.secrets import DISGUISES, PLANTED, bare, left_of


@pytest.mark.parametrize("kind", PLANTED)
@pytest.mark.parametrize("disguise", DISGUISES)
def test_planted_secret_is_taken_out(kind: str, disguise: str) -> None:
    """Neither its beginning nor its end is left, wherever it stands."""
    secret = PLANTED[kind]
    clean = redact(DISGUISES[disguise](secret), classes=("secret",))
    assert "redacted" in str(clean)
    assert left_of(secret, bare(clean)) == []


pieces = (
    st.sampled_from(sorted(PLANTED.values()))
    | st.text(max_size=8)
    | st.sampled_from(["\n", '"', "password=", ":", "@", "%2D"])
)
texts = st.lists(pieces, max_size=6).map("".join)
data = st.recursive(
    texts | st.integers() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
)


@settings(max_examples=300, deadline=None)
@given(data)
def test_redacting_twice_is_redacting_once(value: object) -> None:
    """Nothing is found in what was redacted, whatever stands beside it."""
    once = redact(value)
    assert redact(once) == once
