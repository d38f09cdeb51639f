"""Tables of cases, as files."""

from __future__ import annotations

from pathlib import Path

import pytest

from stateward.errors import ConfigError
from stateward.policy_table import read_table

TABLE = """graph: desk
policy: desk.yaml
cases:
  - {state: ACT, tool: pay, expect: ask}

  - state: PLAN          # a case may stand on several lines
    model: planner
    usd: null
    spent: {turns: 3}
    expect: deny
    rule: fuses
"""


def written(folder: Path, text: str) -> Path:
    file = folder / "cases.yaml"
    file.write_text(text, encoding="utf-8")
    return file


def test_each_case_knows_its_line(tmp_path: Path) -> None:
    """Comments and blank lines between them count."""
    table = read_table(written(tmp_path, TABLE))
    assert (table.graph, table.policy) == ("desk", "desk.yaml")
    assert [(row.line, row.state, row.tool, row.model, row.usd) for row in table.rows] == [
        (4, "ACT", "pay", None, 0.0), (6, "PLAN", None, "planner", None),
    ]  # fmt: skip
    assert table.rows[1].spent == {"turns": 3}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("cases: []\n", "cases"),
        ("cases:\n  - {state: A, tool: b}\n", "line 2"),
        ("cases:\n  - {state: A, tool: b, expect: ask}\n  - {state: A, expect: ask}\n", "line 3"),
        ("cases:\n  - {state: A, tool: b, expect: ask, spent: {calls: many}}\n", "line 2"),
        ("case: []\n", "case"),
        ("cases: [\n", "line 2"),
        ("- 1\n", "cases.yaml"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(text: str, said: str, tmp_path: Path) -> None:
    """The file, and the line of the case."""
    with pytest.raises(ConfigError, match=said):
        read_table(written(tmp_path, text))


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    """With its name."""
    with pytest.raises(ConfigError, match=r"nope\.yaml"):
        read_table(tmp_path / "nope.yaml")
