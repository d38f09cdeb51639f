"""Every exception Stateward raises, split by the phase in which the caller can act.

StatewardError
├── DefinitionError            a chart, policy, configuration or tool is written wrongly: mend the source
│   ├── UnknownTarget          a transition names a state that does not exist
│   ├── PolicyLoosened         a child policy is weaker than its parent's
│   └── ConfigError            a YAML file, environment variable or override has a wrong key or value
├── RunError                   a run cannot go on, or an input cannot be taken: act on the session
│   ├── InputRefused           the input does not fit the state schema; nothing was committed
│   ├── SessionBusy            another run holds the session's lease
│   ├── NotExpected            the chart has no transition for this event now
│   ├── UnknownSession         no session has this id
│   ├── NoTransition           a completed state has no true guard and no default
│   ├── MicrostepLimit         a macrostep did not come to rest within `fuse.microsteps`
│   ├── UpdateRefused          an activity's update does not fit the state schema
│   ├── BreakerOpen            the provider of a model failed too often and is left alone for a while
│   ├── ContractFailed         no tier brought a model to an output that fits its contract
│   └── Diverged               a re-entered activity made another call than the journal says
├── GovernanceError            a person's answer or a governed call cannot be taken
│   ├── UnknownAsk             no ask has this id
│   ├── AskClosed              the ask was answered, withdrawn or expired before
│   ├── UnknownTool            a state or a model names a tool that nobody registered
│   └── FuseTripped            a fuse stands in the way of a model call; the activity ends here
└── CheckpointError            what is stored does not fit what runs
    ├── ConnectionLost         the connection to the database broke, and did not come back in time
    ├── StaleFence             the writer's lease was taken over by another
    ├── Drift                  the pinned hashes are not those of the code that wants to go on
    └── CodecError             stored data has an unknown version or shape
"""

from __future__ import annotations


class StatewardError(Exception):
    """The root of every error raised by Stateward.

    The message is made of three parts, so that a reader learns what happened, where, and what to do.

    Args:
        what: What happened, with identifiers in backticks.
        where: The place: a file, a state path, a session id.
        fix: What the reader can do about it.
        facts: The values behind the message, readable as attributes through `facts`.
    """

    def __init__(self, what: str, *, where: str = "", fix: str = "", **facts: object) -> None:
        self.what = what
        self.where = where
        self.fix = fix
        self.facts = facts
        super().__init__(_message(what, where=where, fix=fix))


def _message(what: str, *, where: str, fix: str) -> str:
    place = f" (at {where})" if where else ""
    advice = f" {fix}" if fix else ""
    # What is named may be what was refused: half a character could be neither printed nor kept.
    return f"{what}{place}.{advice}".encode(errors="backslashreplace").decode()


class DefinitionError(StatewardError):
    """A chart, policy, configuration or tool is written wrongly."""


class UnknownTarget(DefinitionError):
    """A transition, initial state or history names a state that does not exist."""


class PolicyLoosened(DefinitionError):
    """A child's policy would allow what its parent's policy does not."""


class ConfigError(DefinitionError):
    """A configuration source has an unknown key, a wrong type or a value out of range.

    Args:
        file: The file, environment variable or override the value came from.
        key: The dotted key.
        expected: What would have been right.
        given: What was found.
        fix: What the reader can do, where it is not the value that is wrong.
    """

    def __init__(self, *, file: str, key: str, expected: str, given: object, fix: str = "") -> None:
        self.file = file
        self.key = key
        self.expected = expected
        self.given = given
        super().__init__(
            f"`{key}` in `{file}` is {given!r}, expected {expected}",
            fix=fix or "Correct the value or remove the key.",
        )


class RunError(StatewardError, RuntimeError):
    """A run cannot go on, or an input cannot be taken.

    A `RuntimeError` besides: LangGraph's server tells its clients the message of those, and of other exceptions only
    the name, so that whoever sent what was refused could not read what to send.
    """


class InputRefused(RunError):
    """The input does not fit the state schema; nothing was committed."""


class SessionBusy(RunError):
    """Another run holds the session's lease."""


class NotExpected(RunError):
    """The chart has no transition for this event in its present configuration."""


class UnknownSession(RunError):
    """No session has this id in the database."""


class NoTransition(RunError):
    """A completed state has no transition whose guard is true, and no default."""


class MicrostepLimit(RunError):
    """A macrostep took more microsteps than `fuse.microsteps` allows."""


class UpdateRefused(RunError):
    """An activity returned an update that does not fit the state schema."""


class BreakerOpen(RunError):
    """The provider of a model failed too often in a row and is left alone; `facts` say for how long."""


class ContractFailed(RunError):
    """No tier of structured output brought a model to an output that fits its contract."""


class Diverged(RunError):
    """A re-entered activity made another call than the journal recorded."""


class GovernanceError(StatewardError, RuntimeError):
    """A person's answer or a governed call cannot be taken; a `RuntimeError` for the reason that `RunError` has."""


class UnknownAsk(GovernanceError):
    """No ask has this id in the database."""


class AskClosed(GovernanceError):
    """The ask was answered, withdrawn or expired before."""


class UnknownTool(GovernanceError):
    """A state or a model names a tool that nobody registered."""


class FuseTripped(GovernanceError):
    """A fuse stands in the way of a model call; the activity ends here, even if it catches this."""


class CheckpointError(StatewardError):
    """What is stored does not fit what runs."""


class ConnectionLost(CheckpointError):
    """The connection broke under a statement; nothing says that the database is gone for good."""


class StaleFence(CheckpointError):
    """The writer's lease on the session was taken over by another holder."""


class Drift(CheckpointError):
    """The hashes pinned when the run started are not those of the code that wants to go on."""


class CodecError(CheckpointError):
    """Stored data has an unknown version or shape."""
