"""An idea for a post, as the three options must be, and ideas by rules for whoever has no model."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Bullet = Annotated[str, Field(min_length=3, max_length=300)]
OPTIONS = 3
"""Ideas that are proposed."""
BULLETS = 5
"""Points of each."""


class Idea(BaseModel):
    """One idea."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str = Field(min_length=3, max_length=160)
    audience: str = Field(min_length=3, max_length=200)
    """Who reads it."""
    angle: str = Field(min_length=3, max_length=300)
    """What makes it worth reading."""
    bullets: Annotated[list[Bullet], Field(min_length=BULLETS, max_length=BULLETS)]
    """What it says, point by point."""
    rationale: str = Field(min_length=3, max_length=600)
    """Why it should be written."""


def ideas_on(topic: str) -> list[Idea]:
    """Say what could be written on a topic, by rules: a guide, mistakes, questions.

    Args:
        topic: A few words.

    Returns:
        Three ideas.
    """
    about = topic[:60].rstrip(" .!?") or "this"
    return [
        Idea(
            title=f"{_capital(about)}, step by step",
            audience="customers who do it for the first time",
            angle="a guide that can be followed with the page open",
            bullets=[
                f"What {about} is about",
                f"What has to be at hand before: {about}",
                f"How it goes: {about}",
                f"How long it takes: {about}",
                "Where to ask when it does not work",
            ],
            rationale="Most who search for it want to get it done.",
        ),
        Idea(
            title=f"What goes wrong with {about}",
            audience="customers who have had trouble before",
            angle="mistakes first, each with the way out",
            bullets=[
                f"The most common mistake: {about}",
                f"What is believed and not so: {about}",
                f"When it is late: {about}",
                f"When it is refused: {about}",
                "When a person has to look at it",
            ],
            rationale="It saves both sides a letter.",
        ),
        Idea(
            title=f"Five questions about {about}",
            audience="customers who want one answer and no more",
            angle="short answers, in the order in which they are asked",
            bullets=[
                f"Who can do it: {about}",
                f"What does it cost: {about}",
                f"Which dates count: {about}",
                f"What is the rule: {about}",
                "Who decides in a special case",
            ],
            rationale="It is what the inbox is full of.",
        ),
    ]


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
