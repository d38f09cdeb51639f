"""Questions to people: an activity makes one here and puts it with `run.ask`, and goes on when it is answered.

    from stateward import ask

    async def gate(state: Draft, run: sw.Run) -> sw.Update[Draft]:
        said = await run.ask(ask.approve("Publish this?", about={"title": state["title"]}))
        return {"approved": bool(said), "wish": said.note}

    sw.State("GATE", do=gate, asks=True, to=…)

docs/people.md tells of all five, and of what happens when nobody answers.
"""

from stateward.run.people.answer import Approval, Review
from stateward.run.people.question import (
    EXPIRED,
    REMINDER,
    Question,
    Voting,
    When,
    approve,
    choose,
    edit,
    review_call,
    text,
)

__all__ = [
    "EXPIRED",
    "REMINDER",
    "Approval",
    "Question",
    "Review",
    "Voting",
    "When",
    "approve",
    "choose",
    "edit",
    "review_call",
    "text",
]
