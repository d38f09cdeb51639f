"""`stateward draw`."""

from __future__ import annotations


def test_the_diagram_has_nested_states_fuses_and_approvals(shell):
    """Mermaid on stdout, notes where a fuse hangs and where a person is asked."""
    text = shell.run("draw", "toy_desk").stdout
    assert text.startswith("stateDiagram-v2\n")
    assert 'state "WORKING" as WORKING {' in text
    assert "fuse turns 4" in text
    assert "asks before pay" in text


def test_the_diagram_can_be_written_to_a_file(shell):
    """`--out` writes the same text."""
    file = shell.folder / "chart.mmd"
    assert shell.run("draw", "toy_desk", "--out", str(file)).exit_code == 0
    assert file.read_text() == shell.run("draw", "toy_desk").stdout
    assert shell.run("draw", "toy_desk", "--out", str(shell.folder / "no" / "x")).exit_code == 2
