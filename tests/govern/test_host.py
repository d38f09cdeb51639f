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
        "http://good.example",
        "https://good.example/a?b#c",
        "HTTPS://GOOD.EXAMPLE./x",
        "https://good.example:443/",
        "http://good.example:80",
        "http://good.example/?@evil.example",
        "http://good.example/ä",
    ],
)
def test_the_host_itself_passes(url: str) -> None:
    """However it is written."""
    assert holds(url, "good.example")


@pytest.mark.parametrize(
    "url",
    [
        "http://evil.example",
        "http://good.example@evil.example",
        "http://good.example?@evil.example",
        "http://good.example#@evil.example",
        "http://good.example:80@evil.example/",
        "http://evil.example\\@good.example",
        "http://good.example\\.evil.example",
        "http://good.example.evil.example",
        "http://evilgood.example",
        "http://sub.good.example",
        "http://good.example%2eevil.example",
        "http://good.example%00.evil.example",
        "http://good.example\t.evil.example",
        " http://good.example",
        "http://good.example\n",
        "http://good.example ",
        "good.example",
        "//good.example",
        "http:good.example",
        "http:/good.example",
        "http:///good.example",
        "http://",
        "http://.good.example",
        "http://good..example",
        "http://good.example..",
        "http://ｇood.example",
        "http://gооd.example",
        "http://good。example",
        "http://good.example\u2044.evil.example",
        "http://good.example:8080",
        "https://good.example:80",
        "http://good.example:99999",
        "http://good.example:٨٠",
        "http://good.example:+80",
        "http://good.example;evil.example",
        "http://[good.example]",
        "ftp://good.example",
        "javascript://good.example/%0aalert(1)",
        "file://good.example/etc/passwd",
        "view-source:http://good.example",
        "http://2130706433",
        "http://127.1",
    ],
)
def test_another_host_in_disguise_does_not(url: str) -> None:
    """What could be read in two ways is refused."""
    assert not holds(url, "good.example")


@pytest.mark.parametrize(
    ("url", "fits"),
    [
        ("http://a.good.example", True),
        ("http://a.b.good.example", True),
        ("http://good.example", False),
        ("http://agood.example", False),
        ("http://.good.example", False),
    ],
)
def test_a_star_stands_for_what_is_below_a_name(url: str, fits: bool) -> None:
    """Not for the name itself, and not for one that ends like it."""
    assert holds(url, "*.good.example") is fits


@pytest.mark.parametrize(
    ("url", "entry"),
    [
        ("http://good.example:8080", "good.example:8080"),
        ("http://good.example:9", "good.example:*"),
        ("ftp://good.example", "ftp://good.example"),
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
        ("http://good.example", "good.example:8080"),
        ("http://good.example", "ftp://good.example"),
        ("http://[::ffff:127.0.0.1]", "127.0.0.1"),
        ("http://[fe80::1%25eth0]", "[fe80::1]"),
    ],
)
def test_and_then_nothing_else_does(url: str, entry: str) -> None:
    """An entry with a port or a scheme stands for these only."""
    assert not holds(url, entry)


@pytest.mark.parametrize(
    "entry",
    ["", "*", "*.", "http://good.example/path", "user@good.example", "a b", "*.127.0.0.1", "good.example:x", "a..b"],
)
def test_an_entry_that_stands_for_nothing_is_refused_where_it_is_written(entry: str) -> None:
    """Else it would be accepted and do nothing."""
    with pytest.raises(DefinitionError, match="host"):
        ArgumentRule(name="url", hosts=(entry,))
