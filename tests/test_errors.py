"""The errors: one tree, drawn in the module's docstring, and messages that say what, where and what to do."""

from __future__ import annotations

import re

from stateward import errors
from stateward.errors import AskClosed, ConfigError, InputRefused, RunError, StatewardError


def drawn() -> list[tuple[str, int]]:
    """Return the names of the docstring's tree with their depth."""
    lines = re.findall(r"^([│├└─ ]*)(\w+Error|\w+)", (errors.__doc__ or "").partition("\n\n")[2], re.MULTILINE)
    return [(name, len(stem) // 4) for stem, name in lines]


def below(kind: type[StatewardError], *, depth: int = 0) -> list[tuple[str, int]]:
    """Return the classes of the tree with their depth, in the order in which they are written."""
    inner = [each for each in kind.__subclasses__() if each.__module__ == errors.__name__]
    return [(kind.__name__, depth), *(found for each in inner for found in below(each, depth=depth + 1))]


def test_the_docstring_draws_the_tree() -> None:
    """Every class is in the drawing, under its parent, in the order of the file."""
    assert drawn() == below(StatewardError)


def test_a_message_says_what_where_and_what_to_do() -> None:
    """The three parts are one text, and readable one by one."""
    error = RunError("The run `r1` stopped", where="WORKING.PLAN", fix="Resume it.", run="r1")
    assert str(error) == "The run `r1` stopped (at WORKING.PLAN). Resume it."
    assert (error.what, error.where, error.fix, error.facts) == (
        "The run `r1` stopped",
        "WORKING.PLAN",
        "Resume it.",
        {"run": "r1"},
    )


def test_a_message_can_always_be_printed_and_kept() -> None:
    """Half a character, in a name that somebody gave, is written as what it is."""
    assert str(RunError("No event `a\ud800`", fix="Send one.")) == "No event `a\\ud800`. Send one."


def test_a_configuration_error_names_file_key_expected_and_given() -> None:
    """All four are in the message and on the error."""
    error = ConfigError(file="policies/a.yaml", key="fuses.usd", expected="a number ≥ 0", given=-1)
    assert str(error).startswith("`fuses.usd` in `policies/a.yaml` is -1, expected a number ≥ 0.")
    assert (error.file, error.key, error.expected, error.given) == ("policies/a.yaml", "fuses.usd", "a number ≥ 0", -1)


def test_refusals_are_errors_whose_message_langgraphs_server_tells() -> None:
    """Of exceptions that it does not know it tells only the name, and nobody learns what to send."""
    assert issubclass(InputRefused, RuntimeError)
    assert issubclass(AskClosed, RuntimeError)
