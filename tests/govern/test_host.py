"""Hosts of URLs, read so that no two readers can disagree."""

from __future__ import annotations

import pytest

from stateward.errors import DefinitionError
from stateward.govern.host import read_rule, read_url
from stateward.govern.kinds.arguments import ArgumentRule


def holds(url: str, *entries: str) -> bool:
    """Whether some entry of a policy stands for a URL's host."""
    try:
        host = read_url(url)
    except ValueError:
        return False
    return any(read_rule(entry).holds(host) for entry in entries)


@pytest.mark.parametrize(
    "url",
    [
        "http://good.org",
        "https://good.org/a?b#c",
        "HTTPS://GOOD.ORG./x",
        "https://good.org:443/",
        "http://good.org:80",
        "http://good.org/?@evil.org",
        "http://good.org/ä",
    ],
)
def test_the_host_itself_passes(url: str) -> None:
    """However it is written."""
    assert holds(url, "good.org")


@pytest.mark.parametrize(
    "url",
    [
        "http://evil.org",
        "http://good.org@evil.org",
        "http://good.org?@evil.org",
        "http://good.org#@evil.org",
        "http://good.org:80@evil.org/",
        "http://evil.org\\@good.org",
        "http://good.org\\.evil.org",
        "http://good.org.evil.org",
        "http://evilgood.org",
        "http://sub.good.org",
        "http://good.org%2eevil.org",
        "http://good.org%00.evil.org",
        "http://good.org\t.evil.org",
        " http://good.org",
        "http://good.org\n",
        "http://good.org ",
        "good.org",
        "//good.org",
        "http:good.org",
        "http:/good.org",
        "http:///good.org",
        "http://",
        "http://.good.org",
        "http://good..org",
        "http://good.org..",
        "http://ｇood.org",
        "http://gооd.org",
        "http://good。org",
        "http://good.org\u2044.evil.org",
        "http://good.org:8080",
        "https://good.org:80",
        "http://good.org:99999",
        "http://good.org:٨٠",
        "http://good.org:+80",
        "http://good.org;evil.org",
        "http://[good.org]",
        "ftp://good.org",
        "javascript://good.org/%0aalert(1)",
        "file://good.org/etc/passwd",
        "view-source:http://good.org",
        "http://2130706433",
        "http://127.1",
    ],
)
def test_another_host_in_disguise_does_not(url: str) -> None:
    """What could be read in two ways is refused."""
    assert not holds(url, "good.org")


@pytest.mark.parametrize(
    ("url", "fits"),
    [
        ("http://a.good.org", True),
        ("http://a.b.good.org", True),
        ("http://good.org", False),
        ("http://agood.org", False),
        ("http://.good.org", False),
    ],
)
def test_a_star_stands_for_what_is_below_a_name(url: str, fits: bool) -> None:
    """Not for the name itself, and not for one that ends like it."""
    assert holds(url, "*.good.org") is fits


@pytest.mark.parametrize(
    ("url", "entry"),
    [
        ("http://good.org:8080", "good.org:8080"),
        ("http://good.org:9", "good.org:*"),
        ("ftp://good.org", "ftp://good.org"),
        ("http://[::1]/", "[0:0:0:0:0:0:0:1]"),
        ("http://xn--bcher-kva.example", "bücher.example"),
        ("http://127.0.0.1/", "127.0.0.1"),
    ],
)
def test_an_entry_may_name_port_scheme_address_or_letters(url: str, entry: str) -> None:
    """What is said holds."""
    assert holds(url, entry)


@pytest.mark.parametrize(
    ("url", "entry"),
    [
        ("http://good.org", "good.org:8080"),
        ("http://good.org", "ftp://good.org"),
        ("http://[::ffff:127.0.0.1]", "127.0.0.1"),
        ("http://[fe80::1%25eth0]", "[fe80::1]"),
    ],
)
def test_and_then_nothing_else_does(url: str, entry: str) -> None:
    """An entry with a port or a scheme stands for these only."""
    assert not holds(url, entry)


@pytest.mark.parametrize(
    "entry", ["", "*", "*.", "http://good.org/path", "user@good.org", "a b", "*.127.0.0.1", "good.org:x", "a..b"]
)
def test_an_entry_that_stands_for_nothing_is_refused_where_it_is_written(entry: str) -> None:
    """Else it would be accepted and do nothing."""
    with pytest.raises(DefinitionError, match="host"):
        ArgumentRule(name="url", hosts=(entry,))
