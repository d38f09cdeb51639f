"""Frozen runs: a recorded run in a file, played by the tests of the graph it was recorded with.

`stateward freeze SESSION tests/runs/NAME.json` writes one, and `pytest` plays all that lie in `tests/runs`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from stateward.errors import DefinitionError, NotExpected
from stateward.govern.redact import DataClass, redact
from stateward.run.graph import ChartGraph
from stateward.run.replay.divergence import Replayed
from stateward.run.replay.frozen import frozen, opened, thawed
from stateward.run.replay.play import play
from stateward.run.replay.record import recordings
from stateward.run.session import Session
from stateward.run.store.serializer import StrictSerializer

_SECRET: frozenset[DataClass] = frozenset({"secret"})


def freeze(
    session: Session, file: Path, *, graph: str, run: int | None = None, overrides: Sequence[str] = ()
) -> tuple[str, ...]:
    """Write a recorded run of a session into a file.

    Args:
        session: The session.
        file: Where to; its folder is made when it is missing.
        graph: The graph's import name, `module:attribute`.
        run: The run's number, from 1; None for the latest.
        overrides: What the graph's `build(overrides=…)` was given.

    Returns:
        The state keys whose values hold what looks like a secret: calls are kept without, a state is kept as it is.

    Raises:
        UnknownSession: No session has this id, it is another tenant's, or it has no checkpoint here.
        NotExpected: The session has no such run, it is still at work, or steps of it are not stored any more.
        CodecError: A value holds a type that could not be loaded again.
    """
    session.refuse_stranger()
    (recording,) = recordings(session.graph, database=session.database, session=session.id, run_no=run, newest=True)
    if recording.moments[-1].control["status"] == "running":
        raise NotExpected(
            f"Run {recording.run_no} of session `{session.id}` is not at its end, nor does it wait",
            fix="Resume it first, and freeze it then.",
        )
    serde = StrictSerializer(allowed=session.graph.allowed)
    text = frozen(recording, graph=graph, overrides=tuple(overrides), serde=serde)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    values = [moment["values"] for moment in json.loads(text)["moments"]]
    keys = {key for each in values for key, value in each.items() if redact(value, classes=_SECRET) != value}
    return tuple(sorted(keys))


def play_frozen(file: Path, *, graph: ChartGraph | None = None) -> Replayed:
    """Play the run in a file.

    Args:
        file: From `freeze`.
        graph: The chart; None for the one that the file names.

    Returns:
        What it came to.

    Raises:
        CodecError: It is no frozen run, is damaged, or of another version.
        DefinitionError: The graph it names cannot be imported.
    """
    found = opened(file.read_text(encoding="utf-8"), where=str(file))
    graph = graph or _imported(found.graph, found.overrides, where=str(file))
    return play(graph, thawed(found, serde=StrictSerializer(allowed=graph.allowed), where=str(file)))


def _imported(name: str, overrides: Sequence[str], *, where: str) -> ChartGraph:
    module_name, _, attribute = name.partition(":")
    try:
        module = import_module(module_name)
        made: object = module.build(overrides=tuple(overrides)) if overrides else getattr(module, attribute)
    except (ImportError, AttributeError) as missing:
        raise DefinitionError(
            f"The graph `{name}` of a frozen run cannot be imported: {missing}",
            where=where,
            fix="Run pytest where it can be imported, or freeze the run again.",
        ) from missing
    if not isinstance(made, ChartGraph):
        raise DefinitionError(f"`{name}` is no compiled chart", where=where, fix="Freeze the run again.")
    return made
