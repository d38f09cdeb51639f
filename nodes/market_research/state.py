"""The state of `graphs.market_research`: the conversation with the user, and one of its own for each worker."""

from __future__ import annotations

import stateward as sw
from stateward import teams


class Market(teams.TeamState, total=False):
    """The state. What supervisors keep is in `team`; workers see their own conversations and nothing else."""

    search: sw.Messages
    scraper: sw.Messages
    semantic: sw.Messages
    patents: sw.Messages
    notes: sw.Messages
    writer: sw.Messages
    report: str
    """Where the report is: under `config.out`, as that is written; empty when none was kept."""
