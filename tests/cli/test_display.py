"""The progress display."""

from __future__ import annotations

from rich.console import Console

from stateward.cli.display import progress


def test_without_a_terminal_each_session_is_a_plain_line(capsys):
    """Written to stderr as sessions come to rest."""
    with progress(2) as display:
        display.begin("a")
        display.move("a", state="WORKING")
        display.end("a", status="completed", state="DONE")
    assert capsys.readouterr().err == "[1/2] a: completed in DONE\n"


def test_on_a_terminal_the_panel_shows_counts_and_states(monkeypatch):
    """The sessions under way with their states, the others as counts."""
    console = Console(force_terminal=True, width=80, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    monkeypatch.setattr("stateward.cli.display.stderr", lambda: console)
    with progress(3) as display:
        for session in ("a", "b"):
            display.begin(session)
            display.move(session, state="WORKING.ACT")
        display.end("a", status="waiting", state="WORKING.ACT")
        console.print(display)
    console.file.close()
    shown = console.export_text()
    assert "1/3" in shown
    assert "waiting 1" in shown
    assert "WORKING.ACT" in shown
