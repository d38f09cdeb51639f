"""Secrets and personal data are taken out, other text stays as it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.govern.kinds.redaction import BY_DEFAULT
from stateward.govern.redact import HIDDEN, redact

FOUND = [
    ("mail ann.b+c@mail.example.org now", "mail [redacted email] now"),
    ("card 4111 1111 1111 1111 12/27", "card [redacted card] 12/27"),
    ("4242424242424242,", "[redacted card],"),
    ("4111-1111-1111-1111 4242 4242 4242 4242", "[redacted card] [redacted card]"),
    ("order 12 4111 1111 1111 1111", "order 12 [redacted card]"),
    ("to DE89 3704 0044 0532 0130 00 please", "to [redacted iban] please"),
    ("BE68 5390 0754 7034 paid", "[redacted iban] paid"),
    ("be68539007547034", "[redacted iban]"),
    ("ssn 123-45-6789.", "ssn [redacted ssn]."),
    ("AKIAABCDEFGHIJKLMNOP", "[redacted aws_key]"),
    ("key sk-proj_abcdefghijklmnop1234 end", "key [redacted api_key] end"),
    ("ghp_abcdefghijklmnopqrstuv", "[redacted github_token]"),
    ("xoxb-1234567890-abc", "[redacted slack_token]"),
    ("Authorization: Bearer abc.def-ghi", "Authorization: Bearer [redacted bearer]"),
    ("eyJhbGciOi.eyJzdWIiOi.c2lnbmF0dXJl", "[redacted jwt]"),
    ("postgres://app:hunter2@db/x", "postgres://app:[redacted url_password]@db/x"),
    ('{"password": "hunter2"}', '{"password": "[redacted password]"}'),
    ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY----- x", "[redacted private_key] x"),
    ("-----BEGIN PRIVATE KEY-----\nMIIE cut off", "[redacted private_key]"),
]


@pytest.mark.parametrize(("text", "clean"), FOUND)
def test_findings_are_replaced_by_marks(text: str, clean: str) -> None:
    """Each pattern is found, and the text around it stays."""
    assert redact(text) == clean


@pytest.mark.parametrize(
    "text",
    [
        "order 4711 of 2026-01-31 for 1,234.50 EUR",
        "tracking 1234567890123456",
        "http://localhost:8080/path",
        "tokens: 120, secretary: Ann",
        "call 555-0100 at 10:30",
        "4111 1111 1111 1112",
        "GB28 NWBK 6016 1331 9268 19",
    ],
)
def test_other_text_stays(text: str) -> None:
    """Order numbers, dates, addresses of services and numbers with wrong check digits are no findings."""
    assert redact(text) == text


def test_the_shape_of_data_stays() -> None:
    """Lists stay lists, tuples tuples, and values that are no text stay themselves."""
    data = {"a": ["x@y.org", 3, 2.5, True, None], "b": ("sk-abcdefghijklmnopqrst",)}
    clean = {"a": ["[redacted email]", 3, 2.5, True, None], "b": ("[redacted api_key]",)}
    assert redact(data) == clean


def test_the_value_of_a_secret_key_is_hidden_whole() -> None:
    """Whatever lies under a key that names a secret is hidden, at any depth."""
    data = {"db_password": "x", "authorization": {"user": ["a", 1]}, "next_page_token": "x"}
    assert redact(data) == {
        "db_password": HIDDEN,
        "authorization": {"user": [HIDDEN, HIDDEN]},
        "next_page_token": "x",
    }


def test_a_card_written_as_a_number_is_found() -> None:
    """A card number does not escape by being no text."""
    assert redact({"n": 4111111111111111, "m": 12}) == {"n": "[redacted card]", "m": 12}


def test_keys_are_redacted_without_losing_values() -> None:
    """Two keys that become one mark keep both their values."""
    assert sorted(redact({"a@b.org": 1, "c@d.org": 2}).values()) == [1, 2]


def test_classes_can_be_chosen() -> None:
    """Personal data may stay where only secrets must go."""
    text = "a@b.org AKIAABCDEFGHIJKLMNOP"
    assert redact(text, classes=("secret",)) == "a@b.org [redacted aws_key]"
    assert redact(text, classes=("personal",)) == "[redacted email] AKIAABCDEFGHIJKLMNOP"


def test_long_rows_of_numbers_are_done_quickly() -> None:
    """A table of digits does not take quadratic time."""
    for table in ("7 " * 20_000, "4 " * 2_000, "7" * 20_000):
        assert redact(table) == table


@pytest.mark.parametrize(
    "text",
    [
        "the risk-management-and-\ncompliance team",
        "We use basic authentication-free tokens: 12 of them",
        "Ü 100 % of ½ the café's budget\nis spent",
        "sha 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "https://shop.example/a%20b?page_token=3",
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
    ],
)
def test_text_that_needs_a_closer_look_stays(text: str) -> None:
    """Broken lines, escapes, hashes and pictures are no findings by themselves."""
    assert redact(text) == text


def test_card_in_digits_of_another_alphabet_is_found() -> None:
    """What a reader takes for a card number is one."""
    assert redact("card ٤١١١ ١١١١ ١١١١ ١١١١!", classes=("personal",)) == "card [redacted card]!"


pieces = st.sampled_from([text for text, _ in FOUND]) | st.text(max_size=20)


@given(st.lists(pieces, max_size=4).map(" ".join))
def test_redacting_twice_changes_nothing(text: str) -> None:
    """Marks are no findings."""
    once = redact(text)
    assert redact(once) == once


@given(
    st.sampled_from(["", "sk_", "pk_", "rk_", "gsk_", "npm_", "ghp_", "hf_", "AKIA", "AIza", "eyJ", "token_"]),
    st.text("abcXYZ0189_", max_size=18),
)
def test_a_short_name_or_number_is_told_as_by_a_closer_look(begin: str, rest: str) -> None:
    """Ids of runs are new each time: what takes the short way comes out as if it stood among other words."""
    short, only = (begin + rest)[:18], BY_DEFAULT
    assert redact(f"- {short} -", classes=only) == f"- {redact(short, classes=only)} -"


def test_a_short_name_that_stands_for_a_secret_is_found() -> None:
    """Sixteen letters of base64 are an identifier too, and may hold a password."""
    assert redact("cHdkPWFiY2QxMjM0", classes=BY_DEFAULT) == "[redacted base64]"


@given(st.lists(pieces, max_size=6).map(" ".join))
def test_a_text_that_was_looked_at_comes_out_the_same_again(text: str) -> None:
    """What is remembered of long texts is that they hold nothing, and nothing else."""
    long = f"{'word ' * 9}{text}"
    assert redact(long) == redact(long)
    assert (redact(long) == long) == (redact(f"{long} ") == f"{long} ")
