"""The inbox: files of messages, good and bad."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nodes.support_desk.inbox import BadRow, Row, read_inbox
from stateward.errors import ConfigError, InputRefused

COLUMNS = {
    "id": "ticket",
    "customer": "from",
    "name": "who",
    "lang": "language",
    "text": "body",
    "received_at": "when",
}
GOOD = {"id": "1", "customer": "A@example.com", "text": "Where is my parcel?"}


def _read(file: Path, content: str | bytes) -> list[Row | BadRow]:
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return list(read_inbox(file))


def test_the_sample_has_no_bad_row_and_what_the_tests_need(inbox: tuple[Row, ...], samples: Path) -> None:
    """Sixty messages and more, in five languages, with follow-ups."""
    assert not [row for row in read_inbox(samples / "inbox.jsonl") if isinstance(row, BadRow)]
    assert len(inbox) >= 66
    assert {row.lang for row in inbox} == {"en", "de", "fr", "es", "it"}
    assert sum(bool(row.follows) for row in inbox) >= 3


def test_bad_rows_are_values_with_their_line_and_the_rest_goes_on(samples: Path) -> None:
    """Two rows of the broken sample are taken, two are reported."""
    rows = list(read_inbox(samples / "inbox_broken.jsonl"))
    assert [(type(row), row.line) for row in rows] == [(Row, 1), (BadRow, 2), (Row, 3), (BadRow, 4)]


def test_columns_of_other_names_are_mapped(samples: Path) -> None:
    """The CSV sample is read under its own names; a row of several lines counts from its first."""
    rows = list(read_inbox(samples / "inbox.csv", columns=COLUMNS))
    assert all(isinstance(row, Row) for row in rows)
    assert len(rows) == 8
    sixth, seventh = rows[5], rows[6]
    assert isinstance(sixth, Row)
    assert "1. add a kettle\n2. apply" in sixth.text
    assert (sixth.line, seventh.line) == (7, 12)


def test_missing_fields_get_what_can_be_told(tmp_path: Path) -> None:
    """The id is the line, the language is guessed, the address is in small letters."""
    (row,) = _read(tmp_path / "a.jsonl", json.dumps({**GOOD, "id": None, "text": "Wo ist mein Paket?"}))
    assert isinstance(row, Row)
    assert (row.id, row.lang, row.customer) == ("line-1", "de", "a@example.com")


def test_a_byte_order_mark_and_blank_lines_are_passed_over(tmp_path: Path) -> None:
    """Files from spreadsheets are fine."""
    (row,) = _read(tmp_path / "a.jsonl", b"\xef\xbb\xbf\n\n" + json.dumps(GOOD).encode() + b"\r\n\n")
    assert isinstance(row, Row)
    assert row.line == 3
    (other,) = _read(tmp_path / "a.csv", b"\xef\xbb\xbfcustomer,text\r\na@example.com,hi\r\n")
    assert isinstance(other, Row)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("{", "not JSON"),
        ("[" * 200_000, "not JSON"),
        ("[1]", "not a JSON object"),
        (b'{"customer": "a@example.com", "text": "\xff"}', "not UTF-8"),
        (json.dumps({**GOOD, "text": "\ud800"}), "not UTF-8"),
        (json.dumps({**GOOD, "text": ""}), "`text` is missing or empty"),
        (json.dumps({**GOOD, "text": 4.5}), "`text` is not a text"),
        (json.dumps({**GOOD, "text": "x" * 20_001}), "more than 20000 characters"),
        (json.dumps({**GOOD, "customer": "nobody"}), "not an e-mail address"),
        (json.dumps({**GOOD, "id": "a b"}), "blanks"),
        (json.dumps({**GOOD, "received_at": "soon"}), "ISO 8601"),
        (json.dumps({**GOOD, "follows": "7"}), "no earlier line"),
        (json.dumps({**GOOD, "label": 3}), "`label` is not an object"),
    ],
)
def test_a_malformed_row_says_why(tmp_path: Path, row: str | bytes, reason: str) -> None:
    """The reason is a sentence for the person who mends the file."""
    (bad,) = _read(tmp_path / "a.jsonl", row)
    assert isinstance(bad, BadRow)
    assert reason in bad.reason


def test_a_repeated_id_is_reported_at_its_second_line(tmp_path: Path) -> None:
    """Ids name sessions, so that they must differ."""
    first, second = _read(tmp_path / "a.jsonl", f"{json.dumps(GOOD)}\n{json.dumps(GOOD)}\n")
    assert isinstance(first, Row)
    assert isinstance(second, BadRow)
    assert second.line == 2


def test_a_csv_row_with_too_few_values_or_wrong_bytes_is_bad(tmp_path: Path) -> None:
    """The next rows are read all the same."""
    rows = _read(tmp_path / "a.csv", b"customer,text\na@example.com\na@example.com,\xff\na@example.com,ok\n")
    assert [type(row) for row in rows] == [BadRow, BadRow, Row]


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv"])
@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xef\xbb\xbf"])
def test_an_empty_file_is_refused_at_once(tmp_path: Path, name: str, content: bytes) -> None:
    """The error comes from the call, not from the first row."""
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputRefused, match="has no message"):
        read_inbox(tmp_path / name)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    """A folder is no inbox either."""
    for path in (tmp_path / "none.jsonl", tmp_path):
        with pytest.raises(InputRefused, match="is not a file"):
            read_inbox(path)


def test_a_missing_column_is_refused_with_the_columns_there_are(samples: Path) -> None:
    """The message says what to map."""
    with pytest.raises(InputRefused, match=r"no column `customer`, `text`.*ticket, from, who"):
        read_inbox(samples / "inbox.csv")


def test_a_mapping_to_an_unknown_field_or_kind_of_file_is_a_config_error(tmp_path: Path) -> None:
    """Typing errors are not passed over."""
    (tmp_path / "a.txt").write_text("x", encoding="utf-8")
    with pytest.raises(ConfigError, match="received_at"):
        read_inbox(tmp_path / "a.txt", columns={"txet": "body"})
    with pytest.raises(ConfigError, match=r"\.jsonl or \.csv"):
        read_inbox(tmp_path / "a.txt")
