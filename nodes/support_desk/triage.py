"""Triage: what a message is about, how urgent it is and how its writer feels, from the encoder and the facts.

Run as a program it measures itself: `python -m nodes.support_desk.triage samples/inbox.jsonl`.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self, cast

from nodes.support_desk.accuracy import Agreement, agreement, table
from nodes.support_desk.encoder import Encoder, Prototypes, Scores, WordLlama
from nodes.support_desk.facts import Facts, facts_of
from nodes.support_desk.inbox import Row, read_inbox
from nodes.support_desk.triage_rules import (
    Category,
    Intent,
    LabelRules,
    Priority,
    Sentiment,
    TriageRules,
    read_rules,
)

CONFIG = Path(__file__).parents[2] / "configs" / "support_desk.yaml"
MEASURED = ("category", "priority", "sentiment", "intent", "threat")


@dataclass(frozen=True, slots=True, kw_only=True)
class Triage:
    """The verdict on one message."""

    category: Category
    priority: Priority
    sentiment: Sentiment
    intent: Intent
    confidence: float
    """How far the best intent is ahead of the second, 0 to 1; 1 when a rule decided."""
    sure: bool
    """Whether the confidence reaches the configured limit; if not, a configured model may look again."""
    threat: bool

    def to_json(self) -> dict[str, object]:
        """Return the verdict as plain JSON data."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, object]) -> Self:
        """Read a verdict from what `to_json` made.

        Args:
            data: The JSON object.
        """
        return cls(**cast(dict[str, Any], dict(data)))  # Any: the fields have several types


@dataclass(frozen=True, slots=True, kw_only=True)
class Triager:
    """Gives verdicts: the nearest prototypes decide, cues and facts correct them. Holds no message."""

    rules: TriageRules
    encoder: Encoder
    intents: Prototypes
    sentiments: Prototypes

    @classmethod
    def of(cls, rules: TriageRules, *, encoder: Encoder) -> Self:
        """Encode the prototypes of the rules.

        Args:
            rules: The rules.
            encoder: The encoder, for prototypes and messages alike.
        """
        return cls(
            rules=rules,
            encoder=encoder,
            intents=Prototypes.of(rules.intent.prototypes, encoder=encoder, neighbours=rules.neighbours),
            sentiments=Prototypes.of(rules.sentiment.prototypes, encoder=encoder, neighbours=rules.neighbours),
        )

    @classmethod
    def open(cls, config: Path = CONFIG) -> Self:
        """Read the rules from a file and load the local encoder.

        Args:
            config: A YAML file with a section `triage`.
        """
        return cls.of(read_rules(config), encoder=WordLlama.open())

    def triage(self, text: str, *, facts: Facts, lang: str) -> Triage:
        """Judge one message.

        Args:
            text: The message.
            lang: Its language, as a code of two letters.
            facts: What `facts_of` read from it.

        Returns:
            The verdict.
        """
        intents = self._scores(text, lang=lang, prototypes=self.intents, labels=self.rules.intent)
        moods = self._scores(text, lang=lang, prototypes=self.sentiments, labels=self.rules.sentiment)
        ruled = _intent_by_rule(facts)
        # what cannot be taken back is never guessed: a deletion has to be asked for in so many words
        intents = intents if ruled else intents.without("delete_account")
        intent = cast(Intent, ruled or intents.label)
        sentiment = cast(Sentiment, "angry" if facts.threats else moods.label)
        confidence = 1.0 if ruled else round(min(intents.margin, 1.0), 4)
        return Triage(
            category=self.rules.categories[intent],
            priority=_priority(self.rules.priorities[intent], sentiment=sentiment, facts=facts),
            sentiment=sentiment,
            intent=intent,
            confidence=confidence,
            sure=confidence >= self.rules.unsure_below,
            threat=bool(facts.threats),
        )

    def _scores(self, text: str, *, lang: str, prototypes: Prototypes, labels: LabelRules) -> Scores:
        found = {
            label: labels.cue_weight * sum(cue.search(text) is not None for cue in cues)
            for label, cues in labels.cues.items()
        }
        return prototypes.scores(text, lang=lang, encoder=self.encoder).lifted(found)


def _intent_by_rule(facts: Facts) -> Intent | None:
    if facts.takeover:
        return "login"
    return "delete_account" if facts.wants_deletion else None


def _priority(usual: Priority, *, sentiment: Sentiment, facts: Facts) -> Priority:
    if facts.threats or facts.takeover or facts.data_loss:
        return "p0"
    return "p1" if usual == "p2" and sentiment == "angry" else usual


def measure(rows: Sequence[Row], *, triager: Triager) -> tuple[Agreement, ...]:
    """Compare verdicts with labels.

    Args:
        rows: Messages; those without a label are left out.
        triager: What is measured.

    Returns:
        One agreement for each of `MEASURED`.
    """
    judged = [(row.label, _verdict(row, triager=triager)) for row in rows if row.label]
    return tuple(
        agreement(field, pairs=[(str(label.get(field)), str(verdict[field])) for label, verdict in judged])
        for field in MEASURED
    )


def _verdict(row: Row, *, triager: Triager) -> Mapping[str, object]:
    facts = facts_of(row.text, received_at=row.received_at)
    return triager.triage(row.text, facts=facts, lang=row.lang).to_json()


def main(arguments: Sequence[str]) -> int:
    """Print the accuracy on each labelled part of an inbox.

    Args:
        arguments: The path of the inbox.

    Returns:
        The exit code: 0, or 2 when the path is missing.
    """
    if len(arguments) != 1:
        print("usage: python -m nodes.support_desk.triage INBOX", file=sys.stderr)
        return 2
    rows = [row for row in read_inbox(Path(arguments[0])) if isinstance(row, Row) and row.label]
    triager = Triager.open()
    parts = {part: [row for row in rows if row.part == part] for part in sorted({row.part for row in rows})}
    measured = {part or "all": measure(chosen, triager=triager) for part, chosen in parts.items()}
    print(table(measured))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
