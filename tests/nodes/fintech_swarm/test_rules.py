"""What the rules of researcher and writer read of a conversation that was handed over."""

from __future__ import annotations

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from nodes.fintech_swarm.rules import ASK_COMPANY, NOTES, TO_RESEARCHER, TO_WRITER, Decide, notes_in, research, writing
from nodes.react.turn import calling
from stateward.teams.mind import WRAP_UP

FOUND = f"RESEARCHER hands over to you: {NOTES}HARB stands. It fell."


def test_a_note_is_no_question() -> None:
    """The writer words the notes for what the user asked."""
    said: list[BaseMessage] = [HumanMessage("HARB, in short"), HumanMessage(FOUND)]
    assert writing(6)(said).text == "HARB stands."


def test_notes_are_read_wherever_they_stand() -> None:
    """In the words of who handed over, or in the call."""
    said: list[BaseMessage] = [HumanMessage("HARB?")]
    assert notes_in(said) == ""
    assert notes_in([*said, calling(said, (TO_WRITER, {"note": f"{NOTES}x."}))]) == "x."
    assert notes_in([*said, HumanMessage(FOUND)]) == "HARB stands. It fell."


@pytest.mark.parametrize("text", ["And BRGT?", "Bright Cells, please"])
def test_what_the_notes_lack_is_asked_for(text: str) -> None:
    """By handing back."""
    reply = writing(6)([HumanMessage(FOUND), HumanMessage(text)])
    assert [call["name"] for call in reply.tool_calls] == [TO_RESEARCHER]


@pytest.mark.parametrize("decide", [research, writing(6)])
def test_the_last_word_calls_nothing(decide: Decide) -> None:
    """Whoever is asked for it answers with what there is."""
    said = [HumanMessage("HARB?"), HumanMessage(WRAP_UP)]
    assert (decide(said).text, decide(said).tool_calls) == (ASK_COMPANY, [])


def test_a_report_has_no_more_sentences_than_it_may() -> None:
    """A number's point ends none."""
    said: list[BaseMessage] = [
        HumanMessage("HARB?"),
        HumanMessage(f"{NOTES}HARB is at 1.5 USD. Two. Three."),
        AIMessage(""),
    ]
    assert writing(2)(said[:2]).text == "HARB is at 1.5 USD. Two."
