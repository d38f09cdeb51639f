"""The job protocol."""

from __future__ import annotations

from pathlib import Path

from stateward.cli.loading import load
from stateward.job import BadRow

PROJECT = Path(__file__).parent / "cli" / "project"


def test_bad_rows_stand_among_the_items_in_file_order(tmp_path, monkeypatch):
    """A reader yields what it can take and a `BadRow` for each line that it cannot."""
    monkeypatch.syspath_prepend(str(PROJECT))
    file = tmp_path / "inbox.jsonl"
    file.write_text('{"id": "m1", "text": "a"}\n{"id": "m2"}\nx\n')
    job = load("toy_desk:graph", folder=PROJECT).job()
    items = list(job.read(file, columns={}))
    assert items[1:] == [BadRow(line=2, reason="no text"), BadRow(line=3, reason="not JSON")]
    assert job.session(items[0]) == "case-m1"
