"""The cipher: what is sealed opens at its place only, under keys that are known by their ids."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.errors import CheckpointError, CodecError
from stateward.opening import keys_here
from stateward.run.store.cipher import KEY_VARIABLE, MAGIC, Cipher, Clear, cipher_for

OLD, NEW = b"o" * 32, b"n" * 16
PLACE = ("acme", "s", "", "notes", "1")


@given(data=st.binary(), place=st.lists(st.text(st.characters())))
def test_what_was_sealed_opens_at_its_place(data: bytes, place: list[str]) -> None:
    """Whatever the bytes and the place."""
    cipher = Cipher({"a": OLD})
    assert cipher.open(cipher.seal(data, *place), *place) == data


@given(text=st.text())
def test_text_comes_back_as_it_was(text: str) -> None:
    """Lone surrogates included."""
    cipher = Cipher({"a": OLD})
    assert cipher.open_text(cipher.seal_text(text, *PLACE), *PLACE) == text


@pytest.mark.parametrize("part", range(5))
def test_another_place_does_not_open_it(part: int) -> None:
    """Tenant, session, namespace, channel and version are each bound."""
    cipher = Cipher({"a": OLD})
    other = [*PLACE]
    other[part] += "x"
    with pytest.raises(CodecError, match="belongs to another place"):
        cipher.open(cipher.seal(b"data", *PLACE), *other)


def test_places_are_not_run_together() -> None:
    """`ab`, `c` is another place than `a`, `bc`."""
    cipher = Cipher({"a": OLD})
    with pytest.raises(CodecError, match="another place"):
        cipher.open(cipher.seal(b"data", "ab", "c"), "a", "bc")


def test_a_changed_byte_is_refused() -> None:
    """The tag does not fit any more."""
    cipher = Cipher({"a": OLD})
    sealed = bytearray(cipher.seal(b"data", *PLACE))
    sealed[-1] ^= 1
    with pytest.raises(CodecError, match="was changed"):
        cipher.open(bytes(sealed), *PLACE)


@pytest.mark.parametrize("clear", [b"data", "text", None, 3, MAGIC])
def test_what_is_not_sealed_is_refused(clear: object) -> None:
    """Encryption fails closed."""
    with pytest.raises(CodecError):
        Cipher({"a": OLD}).open(clear, *PLACE)


def test_a_new_key_seals_and_the_old_one_still_opens() -> None:
    """Rotation: the first key seals, each opens what names it."""
    before = Cipher({"old": OLD})
    after = Cipher({"new": NEW, "old": OLD})
    assert after.open(before.seal(b"data", *PLACE), *PLACE) == b"data"
    with pytest.raises(CodecError, match="key `new`, which is not given"):
        before.open(after.seal(b"data", *PLACE), *PLACE)


def test_without_keys_sealed_text_is_refused() -> None:
    """It is not taken for the value."""
    with pytest.raises(CodecError, match="is encrypted, and no key is given"):
        Clear().open_text(Cipher({"a": OLD}).seal_text("secret", *PLACE), *PLACE)


def test_keys_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first one seals."""
    named = [f"{name}:{base64.b64encode(key).decode()}" for name, key in (("new", NEW), ("old", OLD))]
    monkeypatch.setenv(KEY_VARIABLE, ", ".join(named))
    cipher = cipher_for(keys_here())
    assert cipher is not None
    assert b"new" in cipher.seal(b"data", *PLACE)
    assert cipher.open(Cipher({"old": OLD}).seal(b"data", *PLACE), *PLACE) == b"data"


def test_keys_come_from_a_function() -> None:
    """As a key service gives them."""
    assert cipher_for(lambda: {"a": OLD}) is not None


@pytest.mark.parametrize("bad", ["short:YWJj", "a:%%%", ":" + base64.b64encode(OLD).decode(), "justtext"])
def test_keys_that_are_none_are_refused(bad: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rather than storing anything in clear."""
    monkeypatch.setenv(KEY_VARIABLE, bad)
    with pytest.raises(CheckpointError, match="Give keys of 16, 24 or 32 bytes"):
        cipher_for(keys_here())


@pytest.mark.parametrize("alone", [base64.b64encode(OLD).decode(), base64.b64encode(OLD).decode() + ":YWJj"])
def test_a_key_without_its_id_is_not_told(alone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error goes into logs, and a key must not."""
    monkeypatch.setenv(KEY_VARIABLE, alone)
    with pytest.raises(CheckpointError) as refused:
        cipher_for(keys_here())
    assert base64.b64encode(OLD).decode() not in str(refused.value)


def test_an_empty_set_of_keys_is_refused() -> None:
    """Who asks for encryption gets it."""
    with pytest.raises(CheckpointError, match="there is no key"):
        cipher_for({})
