"""What a `once` tool's look-up answers about a call that was started before a crash.

    from stateward.effects import Completed, SafeToRetry, Unknown

    def find_mail(key: str) -> Looked:
        sent = outbox.find(key)
        return Completed(sent.id) if sent else SafeToRetry()

    @sw.tool(effect="once", lookup=find_mail)

docs/replay.md says what follows from each.
"""

from stateward.run.door.looked import Completed, Looked, SafeToRetry, Unknown

__all__ = ["Completed", "Looked", "SafeToRetry", "Unknown"]
