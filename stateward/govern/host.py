"""Hosts: what a URL names, read so strictly that no two readers can disagree, and what a policy says of it.

A URL is refused as soon as two parsers could take different hosts out of it: user information, backslashes, white
space and control characters, percent signs or letters outside ASCII in the authority, empty labels, zones of IPv6.

Source: RFC 3986, section 3.2; WHATWG URL, section 4.4 (what browsers do beside it); RFC 5891 (names outside ASCII).
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass

DEFAULT_PORTS = {"http": 80, "https": 443}
"""The schemes that a rule without one means, each with its port."""
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://([^/?#]*)")
_AUTHORITY = re.compile(r"(\[[0-9a-fA-F:.]+\]|[^\[\]:]+)(?::([0-9]{0,5}))?")
_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
_ENTRY = re.compile(r"(?:([A-Za-z][A-Za-z0-9+.-]*)://)?(\[[0-9a-fA-F:.]+\]|[^\[\]:/?#@]+)(?::([0-9]{1,5}|\*))?")
_LONGEST = 253
ANY_PORT = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """What a URL names before its path."""

    scheme: str
    name: str
    """In lower case, ASCII, without a dot at its end; an address of IPv6 in its short form, in brackets."""
    port: int | None
    """None for one that the scheme has, and nobody wrote."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostRule:
    """Which hosts one entry of a policy stands for."""

    name: str
    scheme: str = ""
    """Empty for http and https."""
    port: int | None = None
    """None for the port of the scheme, `ANY_PORT` for all."""
    is_wildcard: bool = False
    """Whether it stands for what is below the name, and not for the name itself."""

    def holds(self, host: Host) -> bool:
        """Whether it stands for a host.

        Args:
            host: Of a URL.
        """
        return self._is_scheme(host.scheme) and self._is_port(host) and self._is_name(host.name)

    def _is_scheme(self, scheme: str) -> bool:
        return scheme == self.scheme if self.scheme else scheme in DEFAULT_PORTS

    def _is_port(self, host: Host) -> bool:
        if self.port == ANY_PORT:
            return True
        default = DEFAULT_PORTS.get(host.scheme)
        return (default if host.port is None else host.port) == (default if self.port is None else self.port)

    def _is_name(self, name: str) -> bool:
        if not self.is_wildcard:
            return name == self.name
        return name.endswith(f".{self.name}") and not _is_address(name)


def read_url(text: str) -> Host:
    """Read what a URL names.

    Args:
        text: The URL.

    Returns:
        Its scheme, host and port.

    Raises:
        ValueError: It is no URL, or one that could be read in two ways; says why.
    """
    if any(letter <= " " or letter == "\x7f" or letter == "\\" for letter in text):
        raise ValueError("white space, control characters or backslashes stand in it")
    found = _URL.match(text)
    if found is None:
        raise ValueError("it has no `scheme://`")
    scheme, authority = found[1].lower(), found[2]
    # Not in what follows a `?` or `#` either: old readers end the authority at a slash only (RFC 1738).
    if "@" in text[found.start(2) :].partition("/")[0]:
        raise ValueError("a user name or a password stands before its host")
    parts = _AUTHORITY.fullmatch(authority)
    if parts is None:
        raise ValueError("it has no host that can be read")
    port = int(parts[2]) if parts[2] else None
    if port is not None and not 0 < port <= 65_535:
        raise ValueError(f"{port} is no port")
    return Host(scheme=scheme, name=_name(parts[1]), port=port)


def read_rule(entry: str) -> HostRule:
    """Read which hosts an entry of a policy stands for.

    Args:
        entry: `example.org`, `*.example.org`, `example.org:8080`, `example.org:*`, `ftp://example.org`, `[::1]`. A
            name outside ASCII is taken for its Punycode.

    Raises:
        ValueError: It is none of these; says what was expected.
    """
    parts = _ENTRY.fullmatch(entry)
    if parts is None:
        raise ValueError("a host such as `example.org`, `*.example.org`, `example.org:8080` or `ftp://example.org`")
    host, is_wildcard = parts[2], parts[2].startswith("*.")
    try:
        name = _name(_ascii(host.removeprefix("*.")))
    except ValueError as wrong:
        raise ValueError(f"a host that can be read ({wrong})") from wrong
    if is_wildcard and _is_address(name):
        raise ValueError("a name after `*.`, and no address")
    port = ANY_PORT if parts[3] == "*" else int(parts[3]) if parts[3] else None
    return HostRule(name=name, scheme=(parts[1] or "").lower(), port=port, is_wildcard=is_wildcard)


def _ascii(name: str) -> str:
    if name.isascii():
        return name
    try:
        return name.encode("idna").decode()
    except UnicodeError as wrong:
        raise ValueError("its name has no Punycode") from wrong


def _name(text: str) -> str:
    if text.startswith("["):
        try:
            return f"[{ipaddress.IPv6Address(text[1:-1]).compressed}]"
        except ValueError:
            raise ValueError("it has no address of IPv6 in its brackets") from None
    if not text.isascii():
        raise ValueError("its host has letters outside ASCII: write it in Punycode (`xn--…`)")
    name = text.lower().removesuffix(".")
    if len(name) > _LONGEST or not all(map(_LABEL.fullmatch, name.split("."))):
        raise ValueError("its host is no name and no address")
    return name


def _is_address(name: str) -> bool:
    """Whether readers take it for an address: a name whose last label is a number is one (WHATWG URL)."""
    last = name.rpartition(".")[2]
    return name.startswith("[") or last.isdigit() or last.startswith("0x")
