"""Encryption of what is stored: AES-GCM under the first of several keys, each named by an id.

What is sealed is bound to its place: moved to another row, session or channel it cannot be opened. A sealed text names
the key it was sealed with, so that a new key is taken into use by putting it first, and the old ones still open what
they sealed. With keys given, nothing that is not sealed is read.

Source: NIST SP 800-38D (AES-GCM; nonces of 96 random bits); DESIGN, issue 4 (associated data).
"""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Callable, Mapping
from typing import NoReturn

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from stateward.errors import CheckpointError, CodecError

KEY_VARIABLE = "STATEWARD_KEY"
"""The environment variable that holds the keys: `ID:BASE64`, several joined by commas, the first one seals."""
MAGIC = b"\x00stateward-sealed\x01"
"""What sealed bytes begin with."""
TEXT_MAGIC = "sealed:1:"
"""What sealed text begins with."""
_NONCE = 12
KEY_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
"""What the id of a key is."""
CLEAR_FIX = f"Encryption begins with a new database: unset `{KEY_VARIABLE}` to read this one, or name another."
_FIX = f"Give keys of 16, 24 or 32 bytes: `{KEY_VARIABLE}=ID:BASE64`, or `keys={{ID: bytes}}`."

Keys = Mapping[str, bytes] | Callable[[], Mapping[str, bytes]]
"""Key id to key, or what returns that; the first one seals, all of them open."""


class Cipher:
    """Seals bytes and text, and opens them at the place they were sealed for.

    Args:
        keys: Key id to key of 16, 24 or 32 bytes; the first one seals.

    Raises:
        CheckpointError: There is no key, or one has another length or an id that is none.
    """

    def __init__(self, keys: Mapping[str, bytes]) -> None:
        if not keys:
            raise CheckpointError("Encryption is on, but there is no key", fix=_FIX)
        for name, key in keys.items():
            if not KEY_ID.fullmatch(name):
                # The name itself is not told: who forgot it has put the key in its place.
                raise CheckpointError("The id of a key is not 1 to 64 letters, digits, `.`, `_` or `-`", fix=_FIX)
            if len(key) not in (16, 24, 32):
                raise CheckpointError(f"The key `{name}` has {len(key)} bytes", fix=_FIX)
        self._keys = {name: AESGCM(key) for name, key in keys.items()}
        self._current = next(iter(keys))

    @property
    def current(self) -> str:
        """The id of the key that seals."""
        return self._current

    def has(self, name: str) -> bool:
        """Say whether a key of an id is given."""
        return name in self._keys

    def seal(self, data: bytes, *place: object) -> bytes:
        """Seal bytes.

        Args:
            data: The bytes.
            place: Where they will stand; the same must be said to open them.

        Returns:
            The sealed bytes, with the id of the key.
        """
        nonce = os.urandom(_NONCE)
        name = self._current.encode()
        sealed = self._keys[self._current].encrypt(nonce, data, _bound(place))
        return b"".join((MAGIC, bytes([len(name)]), name, nonce, sealed))

    def open(self, sealed: object, *place: object) -> bytes:
        """Open what `seal` made.

        Args:
            sealed: The sealed bytes.
            place: Where they stand.

        Returns:
            The bytes.

        Raises:
            CodecError: They are not sealed, were sealed for another place or under a key that is not given, or were
                changed.
        """
        if not isinstance(sealed, bytes) or not sealed.startswith(MAGIC):
            _refuse("is not encrypted, though encryption is on", place, fix=CLEAR_FIX)
        at = len(MAGIC) + 1
        length = int.from_bytes(sealed[at - 1 : at])
        name = sealed[at : at + length].decode(errors="replace")
        at += length
        if name not in self._keys:
            _refuse(f"was encrypted under the key `{name}`, which is not given", place)
        try:
            return self._keys[name].decrypt(sealed[at : at + _NONCE], sealed[at + _NONCE :], _bound(place))
        except (InvalidTag, ValueError):
            _refuse(f"was changed, belongs to another place, or has another key `{name}`", place)

    def seal_text(self, text: str, *place: object) -> str:
        """Seal text for a column of text; see `seal`."""
        return TEXT_MAGIC + base64.b64encode(self.seal(text.encode(errors="surrogatepass"), *place)).decode()

    def open_text(self, sealed: str, *place: object) -> str:
        """Open what `seal_text` made; see `open`."""
        if not sealed.startswith(TEXT_MAGIC):
            _refuse("is not encrypted, though encryption is on", place, fix=CLEAR_FIX)
        data = base64.b64decode(sealed.removeprefix(TEXT_MAGIC))
        return self.open(data, *place).decode(errors="surrogatepass")


class Clear:
    """What stands in for a cipher where nothing is encrypted: it refuses what is."""

    def seal_text(self, text: str, *place: object) -> str:
        """Return the text."""
        return text

    def open_text(self, sealed: str, *place: object) -> str:
        """Return the text.

        Raises:
            CodecError: It is encrypted.
        """
        if sealed.startswith(TEXT_MAGIC):
            _refuse("is encrypted, and no key is given", place)
        return sealed


TextCipher = Cipher | Clear


def cipher_for(keys: Keys | None) -> Cipher | None:
    """Make the cipher of a database.

    Args:
        keys: The keys, or what returns them.

    Returns:
        The cipher; None when there are no keys, and nothing is encrypted.

    Raises:
        CheckpointError: A key is none.
    """
    return None if keys is None else Cipher(dict(keys() if callable(keys) else keys))


def read_keys(text: str, *, variable: str = KEY_VARIABLE, fix: str = _FIX) -> dict[str, bytes]:
    """Read keys from what an environment variable holds.

    Args:
        text: `ID:BASE64`, several joined by commas.
        variable: The variable, for the message.
        fix: What the message says is to be done.

    Returns:
        Key id to key, in their order.

    Raises:
        CheckpointError: It has another form.
    """
    pairs = [part.strip().partition(":") for part in text.split(",") if part.strip()]
    if not all(colon for _, colon, _ in pairs):
        # What stands there is not told: it may be the key.
        raise CheckpointError(f"A key in `{variable}` has no id before it", fix=fix)
    try:
        return {name: base64.b64decode(key, validate=True) for name, _, key in pairs}
    except ValueError as error:
        raise CheckpointError(f"`{variable}` cannot be read: {error}", fix=fix) from error


def _bound(place: tuple[object, ...]) -> bytes:
    return json.dumps([str(part) for part in place], ensure_ascii=True).encode()


def _refuse(
    why: str,
    place: tuple[object, ...],
    *,
    fix: str = "Give the keys it was written with, or restore it from a backup.",
) -> NoReturn:
    raise CodecError(
        f"A stored value {why}",
        where=" / ".join(str(part) for part in place if part != ""),
        fix=fix,
    )
