"""Lines of `stateward simulate`."""

from __future__ import annotations

import pytest

from stateward.cli.order import Order, read
from stateward.errors import InputRefused


@pytest.mark.parametrize(
    ("line", "order"),
    [
        ("send pause", Order(name="send", event="pause")),
        ('send resume {"note": "go on"}', Order(name="send", event="resume", fields={"note": "go on"})),
        ("complete", Order(name="complete")),
        ("complete A.B", Order(name="complete", path="A.B")),
        ('complete A.B {"n": 3}', Order(name="complete", path="A.B", fields={"n": 3})),
        ('complete {"n": 3}', Order(name="complete", fields={"n": 3})),
        ("fail", Order(name="fail")),
        ("fail fuse.turns", Order(name="fail", event="fuse.turns")),
        ("fail A.B timeout", Order(name="fail", path="A.B", event="timeout")),
        ("wait 30", Order(name="wait", seconds=30)),
        ("wait 1.5m", Order(name="wait", seconds=90)),
        ('set name="Ann"', Order(name="set", fields={"name": "Ann"})),
        ("  undo ", Order(name="undo")),
    ],
)
def test_a_line_is_read(line: str, order: Order) -> None:
    """A word, what it is about, and JSON."""
    assert read(line) == order


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("jump", "no command"),
        ("send", "0 words where an event"),
        ("send a b", "2 words where an event"),
        ("send a {", "no JSON"),
        ("complete {]", "no JSON"),
        ("wait long", "no time"),
        ("set n", "needs KEY=JSON"),
        ("set n=x", "no JSON"),
    ],
)
def test_what_is_not_understood_is_refused(line: str, told: str) -> None:
    """With what is wrong, and what to write instead."""
    with pytest.raises(InputRefused, match=told) as refused:
        read(line)
    assert refused.value.fix
