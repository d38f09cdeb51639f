"""Where a session stands."""

from __future__ import annotations

import stateward as sw
from stateward.cli.driving import Driven
from stateward.cli.loading import load
from stateward.cli.outcome import outcome_at, show_outcome


def test_an_earlier_checkpoint_tells_what_the_session_told_then(shell, database):
    """The latest one tells the same as the session itself."""
    session = sw.Session("one", load("toy_desk").graph.attach(database), database)
    outcome = session.start({"message": "m", "text": "please refund"})
    assert outcome.path == "WORKING.ACT.ask"
    assert outcome_at("one", session.graph.get_state(session.config).values) == outcome


def test_failed_and_halted_give_exit_code_1(shell, database, capsys):
    """Waiting and completed give 0."""
    session = sw.Session("one", load("toy_desk").graph.attach(database), database)
    outcome = session.start({"message": "m", "text": "please refund"})
    assert show_outcome(Driven(outcome=outcome), as_json=False) == 0
    assert show_outcome(Driven(outcome=outcome, error="ValueError"), as_json=False) == 1
    told = capsys.readouterr()
    assert "asks      ask_" in told.out
    assert "stateward answer ASK …" in told.err
