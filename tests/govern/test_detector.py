"""A detector tells where its findings are; what leads to one is not part of it."""

from __future__ import annotations

import base64

import pytest

from stateward.govern.detector import DETECTORS, unwrapped


def found(name: str, text: str) -> list[str]:
    """Return what the detectors of a name find."""
    spans = [span for each in DETECTORS if each.name == name for span in each.spans(text)]
    return [text[start:end] for start, end in spans]


@pytest.mark.parametrize(
    ("name", "text", "finding"),
    [
        ("bearer", "Authorization: Bearer abc.def-ghi", "abc.def-ghi"),
        ("url_password", "postgres://app:hunter2@db/x", "hunter2"),
        ("password", 'clientSecret="correct horse, battery"', "correct horse, battery"),
        ("password", "access_token=abcd1234 ok", "abcd1234"),
        ("card", "at 12 4111 1111 1111 1111 now", "4111 1111 1111 1111"),
        ("ssn", "is 123-45-6789.", "123-45-6789"),
    ],
)
def test_only_the_finding_is_found(name: str, text: str, finding: str) -> None:
    """What leads to it, and what its pattern reads after it, stays."""
    assert found(name, text)[0] == finding


def test_basic_header_is_found_if_it_holds_a_user_and_a_password() -> None:
    """Words that follow `basic` are none."""
    header = base64.b64encode(b"app:hunter2").decode()
    assert found("basic", f"Basic {header}") == [header]
    assert found("basic", "basic understanding") == []


def test_marks_of_detectors_are_findings_of_none() -> None:
    """So redacting twice is redacting once."""
    marks = " ".join(each.mark for each in DETECTORS)
    assert [each.name for each in DETECTORS if list(each.spans(marks))] == []


def test_base64_of_either_alphabet_is_unwrapped() -> None:
    """With or without padding; what stands for no text is none."""
    assert (unwrapped("a2V5PTE"), unwrapped("a2V5PTE="), unwrapped("/w=="), unwrapped("_w")) == (
        "key=1",
        "key=1",
        None,
        None,
    )
