"""The names of branches, and what a checkpoint knows of them."""

from __future__ import annotations

from typing import Any

import pytest

from stateward.errors import InputRefused, NotExpected
from stateward.run.branch import MAX_NAME, aliases, branches_in, chosen_name, known, renamed, with_new

MAIN: dict[str, Any] = {"status": "waiting", "at": ["A"], "branch": "main"}
FORKED: dict[str, Any] = {
    "status": "running",
    "at": ["B"],
    "branch": "main.1",
    "branches": {
        "main": {"head": "c9", "status": "completed", "at": ["DONE"]},
        "main.1": {"no": 1, "of": "main", "from": "c4", "step": 4, "asks": {"old": "new"}},
    },
}


def choose(name: str | None, *taken: str, of: str = "main") -> str:
    return chosen_name(name, of=of, taken=taken, session="s1")


def test_a_branch_without_a_name_gets_the_next_free_one() -> None:
    """Under the name of the branch it was forked from."""
    assert [choose(None, "main"), choose(None, "main", "main.1", "main.3"), choose(None, "x", of="x")] == [
        "main.1", "main.2", "x.1",
    ]  # fmt: skip


def test_a_name_does_not_grow_without_end() -> None:
    """Forked again and again in line, a branch is named as if it were forked from `main`."""
    name, taken = "main", ["main"]
    for _ in range(100):
        name = choose(None, *taken, of=name)
        taken.append(name)
    assert (len(set(taken)), max(map(len, taken)) <= MAX_NAME) == (101, True)


@pytest.mark.parametrize("name", ["", " ", " a", "a\n", "x" * 61])
def test_what_is_no_name_is_refused(name: str) -> None:
    """A name is shown in lists, and typed by people."""
    with pytest.raises(InputRefused, match="no name"):
        choose(name)


def test_a_name_in_use_is_refused_with_those_that_are() -> None:
    """Two branches of one name would share the keys of their effects."""
    with pytest.raises(NotExpected, match=r"in use: b, main\."):
        choose("b", "main", "b")


def test_a_session_that_was_never_forked_has_its_main_branch() -> None:
    """Also one that was written before there were branches."""
    (main,) = branches_in(MAIN, head="c1")
    assert (main.name, main.head, main.at, main.current, main.of) == ("main", "c1", ("A",), True, "")


def test_the_latest_checkpoint_knows_all_branches() -> None:
    """The others as they were left, the one the session is on as it stands."""
    told = [(one.name, one.head, one.status, one.current, one.forked_at) for one in branches_in(FORKED, head="c12")]
    assert told == [("main", "c9", "completed", False, None), ("main.1", "c12", "running", True, 4)]


def test_a_session_that_never_ran_has_no_branch() -> None:
    """There is nothing yet that could be forked."""
    assert branches_in({}, head="") == ()


@pytest.mark.parametrize("form", ["answers", "answered"])
def test_an_answer_may_name_an_ask_as_the_past_did(form: str) -> None:
    """Who looks at an old checkpoint sees the old ask."""
    given: Any = {"old": "approve", "x": "reject"} if form == "answers" else ["old", "x"]
    told: Any = renamed(FORKED, {form: given})
    assert list(told[form]) == ["new", "x"]


@pytest.mark.parametrize("payload", ["go", {"event": "go"}, 3, None])
def test_anything_else_stays_as_it_is(payload: Any) -> None:
    """Only asks have stand-ins, and only on a branch."""
    assert renamed(FORKED, payload) == payload
    assert aliases(MAIN) == {}


def forked_in_line(count: int) -> dict[str, Any]:
    """A session that was forked again and again where one ask is open, `q0` at first."""
    control = MAIN
    for no in range(count):
        name, asks = f"b{no}", {f"q{no}": f"q{no + 1}"}
        table = with_new(known(control, head=f"c{no}"), name, control=control, head=f"c{no}", step=no, asks=asks)
        control = {**control, "branch": name, "branches": table}
    return control


def test_an_answer_may_name_an_ask_as_any_branch_before_did() -> None:
    """A fork of a fork of a fork: each put the question again."""
    control = forked_in_line(3)
    assert aliases(control) == {"q0": "q3", "q1": "q3", "q2": "q3"}
    assert renamed(control, {"answered": ["q0", "q2", "x"]}) == {"answered": ["q3", "q3", "x"]}


def test_an_ask_that_was_not_put_again_stands_for_nothing() -> None:
    """It was closed where the later branch began."""
    control = forked_in_line(2)
    table = with_new(known(control, head="c2"), "b2", control=control, head="c2", step=2, asks={"other": "again"})
    assert aliases({**control, "branch": "b2", "branches": table}) == {"other": "again"}


def test_what_is_known_of_a_branch_does_not_grow_with_those_before_it() -> None:
    """Each checkpoint carries it."""
    sizes = [len(str(row.get("asks"))) for row in forked_in_line(20)["branches"].values()]
    assert max(sizes) <= len("{'q19': 'q20'}")


def test_rows_of_an_earlier_release_still_name_every_ask() -> None:
    """They name those of all branches before."""
    rows = {"b0": {"of": "main", "asks": {"q0": "q1"}}, "b1": {"of": "b0", "asks": {"q0": "q2", "q1": "q2"}}}
    assert aliases({**MAIN, "branch": "b1", "branches": rows}) == {"q0": "q2", "q1": "q2"}
