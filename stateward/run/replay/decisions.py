"""The decisions of a replay beside those of the record: what was denied, rejected, or refused by a fuse.

A decision that lets a call pass is compared where the call is begun; these are the others, from the audit log.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from stateward.chart.tables import ACTIVITY_DONE
from stateward.run.checkpoint import MAIN_BRANCH
from stateward.run.replay.divergence import Difference, Divergence
from stateward.run.replay.recording import Moment
from stateward.run.replay.score import Score
from stateward.run.store.database import Database

_KINDS = ("denied", "rejected", "invalid", "fuse")
_TOLD = ("event", "path", "activation", "call", "name", "reason")

_Place = tuple[str, int, str]
"""State, activation and branch."""


def undecided(score: Score, *, database: Database) -> Divergence | None:
    """Find the first step whose activity was refused something else than in the record.

    Args:
        score: The play, which is over.
        database: The replay's own.

    Returns:
        The difference, when it is at a step that was the same otherwise; None if there is none.
    """
    recorded = _decisions(score.recording.notes)
    came = _decisions(row.record for row in database.audit.rows(score.recording.session))
    for moment in score.recording.moments[: score.steps]:
        path, activation = str(moment.last.get("state")), int(moment.last.get("activation") or 0)
        if not _is_end(moment):
            continue
        at = (path, activation, moment.branch)
        then, now = recorded.get(at, {}), came.get(at, {})
        if then != now:
            return _diverged(score, moment, then, now)
        missed = [key for key in score.calls_of(path, activation, branch=moment.branch) if key not in score.made]
        if missed:
            told = Difference(what="call", recorded=f"call {missed[0].call} of `{path}`", came="it was not made")
            return _divergence(score, moment, told)
    return None


def _is_end(moment: Moment) -> bool:
    """Whether an activity ended with a step by itself, so that it came to all its calls."""
    return str(moment.last.get("event")) == f"{ACTIVITY_DONE}{moment.last.get('state')}"


def _decisions(notes: Iterable[Mapping[str, Any]]) -> dict[_Place, dict[str, Mapping[str, Any]]]:
    found: dict[_Place, dict[str, Mapping[str, Any]]] = {}
    for note in notes:
        if note.get("event") in _KINDS:
            told = {key: note.get(key) for key in _TOLD}
            place = (note["path"], note["activation"], note.get("branch") or MAIN_BRANCH)
            found.setdefault(place, {})[repr(told)] = told
    return found


def _diverged(
    score: Score, moment: Moment, then: Mapping[str, Mapping[str, Any]], now: Mapping[str, Mapping[str, Any]]
) -> Divergence:
    gone, new = ([one[key] for key in one if key not in other] for one, other in ((then, now), (now, then)))
    about = (gone or new)[0]
    what = f"decision about call {about['call']}, `{about['name']}`"
    return _divergence(score, moment, Difference(what=what, recorded=_words(gone), came=_words(new)))


def _words(notes: list[Mapping[str, Any]]) -> str:
    return f"{notes[0]['event']}: {notes[0]['reason']}" if notes else "nothing stood in its way"


def _divergence(score: Score, moment: Moment, *found: Difference) -> Divergence:
    return Divergence(
        run_no=score.recording.run_no,
        step=moment.step,
        checkpoint=moment.checkpoint,
        state=str(moment.last.get("state") or ""),
        differences=found,
    )
