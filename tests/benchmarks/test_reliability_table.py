"""How figures become lines, tables and the page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.reliability.__main__ import main
from benchmarks.reliability.figure import Figure, at_least, at_most, exactly, told
from benchmarks.reliability.place import Kind
from benchmarks.reliability.proofs import PROOFS
from benchmarks.reliability.table import Result, as_json, write

PAGE = Path(__file__).parents[2] / "docs" / "reliability.md"


def result(*figures: Figure, kind: Kind = "sqlite", how: str = "sync") -> Result:
    return Result(proof=1, title="Kills", kind=kind, how=how, figures=figures, seconds=1.0)


def page(path: Path) -> Path:
    path.write_text("before\n<!-- proof 1: measured -->\nold\n<!-- proof 1: end -->\nafter\n")
    return path


def test_a_claim_holds_up_to_its_limit() -> None:
    """A count must be met, a limit must not be passed, and what is only told always holds."""
    made = [exactly("a", 0), at_most("b", 3, limit=3), at_least("c", 3, limit=3), told("d", 9)]
    broken = [exactly("a", 1), at_most("b", 4, limit=3), at_least("c", 2, limit=3)]
    assert ([one.holds for one in made], [one.holds for one in broken]) == ([True] * 4, [False] * 3)


def test_tables_replace_what_stood_between_the_markers(tmp_path: Path) -> None:
    """The rest of the page stays as it is."""
    path = page(tmp_path / "page.md")
    write([result(exactly("lost", 0)), result(exactly("lost", 2), kind="postgresql")], page=path, server="18.0")
    text = path.read_text()
    assert (text.startswith("before\n"), text.endswith("after\n"), "old" in text) == (True, True, False)
    assert "| lost | 0 | 2 ✗ | = 0 |" in text


def test_writing_twice_changes_nothing_more(tmp_path: Path) -> None:
    """The markers stay."""
    path = page(tmp_path / "page.md")
    write([result(told("sessions", 5))], page=path, server="")
    once = path.read_text()
    write([result(told("sessions", 5))], page=path, server="")
    assert path.read_text() == once


def test_a_page_without_markers_is_refused(tmp_path: Path) -> None:
    """Nothing is written then."""
    path = tmp_path / "page.md"
    path.write_text("nothing here\n")
    with pytest.raises(ValueError, match="add both lines"):
        write([result(told("sessions", 5))], page=path, server="")
    assert path.read_text() == "nothing here\n"


def test_json_has_an_object_for_each_figure() -> None:
    """With its database, its way and whether it holds."""
    (line,) = json.loads(as_json([result(exactly("lost", 2), how="async")]))
    assert (line["database"], line["how"], line["figure"], line["value"], line["holds"]) == (
        "sqlite",
        "async",
        "lost",
        2,
        False,
    )


def test_the_page_has_a_place_for_every_proof() -> None:
    """`make reliability` finds its markers."""
    text = PAGE.read_text()
    assert [proof.number for proof in PROOFS if f"<!-- proof {proof.number}: measured -->" not in text] == []


def test_reduced_proofs_are_not_written_to_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    """What stands in the documentation was measured whole."""
    with pytest.raises(SystemExit):
        main(["--small", "--write", "page.md"])
    assert "whole proofs" in capsys.readouterr().err
