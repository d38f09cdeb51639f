"""`stateward draw`."""

from __future__ import annotations

from stateward.picture.svg import AMBER, BLUE


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


def test_the_file_says_the_format(shell):
    """Unless the format is given; SVG may also be printed."""
    for name in ("chart.svg", "chart.png"):
        assert shell.run("draw", "toy_desk", "--out", str(shell.folder / name)).exit_code == 0
    text = (shell.folder / "chart.svg").read_text()
    assert text == shell.run("draw", "toy_desk", "--format", "svg").stdout
    assert "asks before pay" in text
    assert (shell.folder / "chart.png").read_bytes().startswith(b"\x89PNG")


def test_a_format_nobody_knows_and_a_png_without_a_file_are_errors(shell):
    """Both say what to do."""
    assert "`mermaid`, `svg`, `png`" in shell.run("draw", "toy_desk", "--format", "gif").stderr
    refused = shell.run("draw", "toy_desk", "--format", "png")
    assert (refused.exit_code, "--out" in refused.stderr) == (2, True)


def test_a_session_is_marked_in_its_chart(shell):
    """Where it stands, and the way its run took; a session that waits for a person stands in the state that asks."""
    shell.run("run", "toy_desk", '{"message": "m1", "text": "refund"}', "--session", "case-1")
    text = shell.run("draw", "toy_desk", "--session", "case-1").stdout
    assert "INTAKE --> WORKING : ✓" in text
    assert "class WORKING,WORKING__ACT active" in text
    svg = shell.run("draw", "toy_desk", "--session", "case-1", "--format", "svg").stdout
    assert (AMBER in svg, BLUE in svg) == (True, True)


def test_of_two_arrows_between_two_states_the_one_taken_is_ticked(shell):
    """The record of a step says which of them it was."""
    shell.run("run", "toy_pay:graph", '{"paid": false}', "--session", "bill-1")
    shell.run("send", "toy_pay:graph", "bill-1", "card")
    text = shell.run("draw", "toy_pay:graph", "--session", "bill-1").stdout
    assert ("OPEN --> PAID : ✓ card" in text, "OPEN --> PAID : cash" in text) == (True, True)


def test_a_session_of_another_graph_or_none_is_an_error(shell):
    """As in every command that takes a session."""
    shell.run("run", "toy_desk", '{"message": "m1", "text": "hello"}', "--session", "case-1")
    assert "belongs to graph" in shell.run("draw", "toy_wait", "--session", "case-1").stderr
    assert "case-2" in shell.run("draw", "toy_desk", "--session", "case-2").stderr
