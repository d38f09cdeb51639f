"""Attempts to reach a host that a policy does not list."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.charts.drive import Driven
from tests.charts.one import compiled
from tests.red.world import World, acting, ids, ruled

Drive = Callable[..., Driven]
HTTP = "http://"
HOSTS = ("api.good.example", "*.cdn.example", "192.0.2.7")

URLS: dict[str, Any] = {
    "another host": "https://evil.example/",
    "user name": "https://api.good.example@evil.example/",
    "user name and password": "https://api.good.example:443@evil.example/",
    "user name with percent": "https://api.good.example%40evil.example/",
    "user name behind a question mark": "https://evil.example?@api.good.example/",
    "user name behind a hash": "https://evil.example#@api.good.example/",
    "user name and a hash": "https://api.good.example#@evil.example/",
    "own user name": "https://user@api.good.example/",
    "backslash": "https://evil.example\\@api.good.example/",
    "backslashes": "https:\\\\evil.example/",
    "backslash in the host": "https://api.good.example\\.evil.example/",
    "suffix": "https://api.good.example.evil.example/",
    "prefix": "https://evil-api.good.example/",
    "below what is no wildcard": "https://a.api.good.example/",
    "above a wildcard": "https://cdn.example/",
    "wildcard without a dot": "https://evilcdn.example/",
    "wildcard as a suffix": "https://a.cdn.example.evil.example/",
    "wildcard as text": "https://*.cdn.example.evil.example/",
    "empty label": "https://a..cdn.example/",
    "two dots at the end": "https://api.good.example../",
    "no scheme": "api.good.example/",
    "no scheme but slashes": "//api.good.example/",
    "one slash": "https:/evil.example/",
    "no slashes": "https:evil.example",
    "three slashes": "https:///evil.example/",
    "file": "file:///etc/passwd",
    "file with a host": "file://api.good.example/etc/passwd",
    "javascript": "javascript://api.good.example/%0aalert(1)",
    "data": "data:text/html,https://api.good.example/",
    "ftp": "ftp://api.good.example/",
    "gopher": "gopher://api.good.example:25/",
    "other port": "https://api.good.example:8443/",
    "port of another scheme": "http://api.good.example:443/",
    "port with letters": "https://api.good.example:80evil/",
    "two ports": "https://api.good.example:443:8443/",
    "Cyrillic": "https://\u0430pi.good.example/",
    "fullwidth": "https://\uff41pi.good.example/",
    "fullwidth dot": "https://api\uff0egood.example/",
    "ideographic dot": "https://api\u3002good.example/",
    "sharp s": "https://api.good.example\u00df/",
    "punycode of a look-alike": "https://xn--pi-7kc.good.example/",
    "soft hyphen": "https://api\u00ad.good.example/",
    "tab": "https://api.good.example\t.evil.example/",
    "line": "https://evil.example/\nhttps://api.good.example/",
    "line in the host": "https://api.good.example\r\nHost: evil.example/",
    "blank before": " https://evil.example/",
    "NUL": "https://evil.example\0.api.good.example/",
    "percent in the host": "https://%65vil.example/",
    "percent of a good one": "https://api%2egood.example/",
    "IPv6": "https://[::1]/",
    "IPv6 of an IPv4": "https://[::ffff:192.0.2.7]/",
    "IPv6 with a zone": "https://[fe80::1%25eth0]/",
    "decimal address": "http://3221225991/",
    "octal address": f"{HTTP}0300.0.02.07/",
    "hexadecimal address": f"{HTTP}0xc0.0x00.0x02.0x07/",
    "short address": f"{HTTP}192.0.519/",
    "loopback": f"{HTTP}127.0.0.1/",
    "metadata": f"{HTTP}169.254.169.254/latest/",
    "localhost": "http://localhost/",
    "address in a wildcard": f"{HTTP}127.0.0.1.cdn.example.127.0.0.1/",
    "number below a wildcard": f"{HTTP}cdn.example.7/",
    "two URLs": "https://api.good.example/ https://evil.example/",
    "list with a bad one": ["https://api.good.example/", "https://evil.example/"],
    "list in a list": [["https://evil.example/"]],
    "object": {"url": "https://evil.example/"},
    "bytes": b"https://evil.example/",
    "empty": "",
    "number": 7,
}


@pytest.mark.parametrize("how", ["async"])
@pytest.mark.parametrize("address", ids(URLS))
def test_a_host_that_is_not_listed_is_not_reached(drive: Drive, world: World, address: Any) -> None:
    """Whatever two readers could take out of the text."""
    policy = ruled(argument={"hosts": HOSTS})
    outcome = drive(compiled(acting(address), box=[world.tool()], policy=policy)).start({})
    assert world.effects == []
    assert outcome.values["log"][0] in ("denied", "invalid")


@pytest.mark.parametrize(
    "address", ids({"whole": "https://api.good.example/x?y=/z", "below": "http://a.b.cdn.example:80"})
)
def test_control_a_host_that_is_listed_is_reached(drive: Drive, world: World, address: str) -> None:
    """So that the table proves something."""
    drive(compiled(acting(address), box=[world.tool()], policy=ruled(argument={"hosts": HOSTS}))).start({})
    assert world.done() == [address]
