"""The rules of triage: its vocabulary, and the configuration section `triage` as a frozen value."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast, get_args

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from stateward.errors import ConfigError, DefinitionError
from stateward.govern.pattern import Pattern, compile_pattern

Category = Literal["billing", "login", "bug", "feature_request", "performance", "other"]
"""What a ticket is filed under."""

Priority = Literal["p0", "p1", "p2", "p3"]
"""p0: a threat, a taken account, lost work. p1: wrong money, locked out. p2: the usual. p3: can wait."""

Sentiment = Literal["calm", "frustrated", "angry"]
"""calm: no complaint in the tone. frustrated: patience runs out. angry: it has run out."""

Intent = Literal[
    "delay",
    "return",
    "double_charge",
    "refund",
    "login",
    "bug",
    "feature",
    "performance",
    "delete_account",
    "question",
]
"""What the customer wants done; `question` is everything that only needs an answer."""

Texts = Mapping[str, Mapping[str, tuple[str, ...]]]

INTENTS = cast("tuple[Intent, ...]", get_args(Intent))
SENTIMENTS = cast("tuple[Sentiment, ...]", get_args(Sentiment))


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelRules:
    """How one kind of label is found."""

    prototypes: Texts
    """For each label, texts by language."""
    cues: Mapping[str, tuple[Pattern, ...]]
    cue_weight: float
    """What each cue that is found adds to its label's score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TriageRules:
    """The rules of triage."""

    neighbours: int
    """How many prototypes of a label vote."""
    unsure_below: float
    """The margin below which a verdict counts as unsure."""
    categories: Mapping[Intent, Category]
    priorities: Mapping[Intent, Priority]
    intent: LabelRules
    sentiment: LabelRules


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _Cues(_Strict):
    intent: dict[Intent, list[str]]
    sentiment: dict[Sentiment, list[str]]


class _Weights(_Strict):
    intent: float = Field(ge=0, le=1)
    sentiment: float = Field(ge=0, le=1)


class _Prototypes(_Strict):
    intent: dict[Intent, dict[str, list[str]]]
    sentiment: dict[Sentiment, dict[str, list[str]]]


class TriageConfig(_Strict):
    """The section `triage` as it stands in YAML; for `triage_rules`, and to nest in a larger schema."""

    neighbours: int = Field(ge=1, le=20)
    unsure_below: float = Field(ge=0, le=1)
    cue_weights: _Weights
    categories: dict[Intent, Category]
    priorities: dict[Intent, Priority]
    cues: _Cues
    prototypes: _Prototypes


def triage_rules(config: TriageConfig, *, file: str = "configuration") -> TriageRules:
    """Freeze the configuration of triage.

    Args:
        config: The parsed section.
        file: Where it was read, for errors.

    Returns:
        The rules, with compiled cues.

    Raises:
        ConfigError: An intent or sentiment has no entry where each needs one, or a cue is not a pattern.
    """
    _complete(set(config.categories), wanted=INTENTS, key="triage.categories", file=file)
    _complete(set(config.priorities), wanted=INTENTS, key="triage.priorities", file=file)
    _complete(set(config.prototypes.intent), wanted=INTENTS, key="triage.prototypes.intent", file=file)
    _complete(set(config.prototypes.sentiment), wanted=SENTIMENTS, key="triage.prototypes.sentiment", file=file)
    intent = dict[str, dict[str, list[str]]](config.prototypes.intent.items())
    sentiment = dict[str, dict[str, list[str]]](config.prototypes.sentiment.items())
    # whoever states a problem plainly is calm: the intents' prototypes are calm texts about every topic
    sentiment["calm"] = _together(sentiment["calm"], *intent.values())
    return TriageRules(
        neighbours=config.neighbours,
        unsure_below=config.unsure_below,
        categories=dict(config.categories),
        priorities=dict(config.priorities),
        intent=LabelRules(
            prototypes=_frozen(intent),
            cues=_compiled(config.cues.intent, key="triage.cues.intent", file=file),
            cue_weight=config.cue_weights.intent,
        ),
        sentiment=LabelRules(
            prototypes=_frozen(sentiment),
            cues=_compiled(config.cues.sentiment, key="triage.cues.sentiment", file=file),
            cue_weight=config.cue_weights.sentiment,
        ),
    )


def read_rules(file: Path) -> TriageRules:
    """Read the rules from the section `triage` of a YAML file, whatever other sections it has.

    Args:
        file: The file.

    Returns:
        The rules.

    Raises:
        ConfigError: The file is missing, is not YAML, or the section is not as it must be.
    """
    try:
        data: object = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise ConfigError(file=str(file), key="(file)", expected="a YAML file", given=str(error)) from error
    section = cast("dict[str, object]", data).get("triage") if isinstance(data, dict) else None
    try:
        config = TriageConfig.model_validate(section)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(("triage", *(str(part) for part in first["loc"])))
        raise ConfigError(file=str(file), key=key, expected=first["msg"], given=first["input"]) from error
    return triage_rules(config, file=str(file))


def _complete(given: Set[str], *, wanted: tuple[str, ...], key: str, file: str) -> None:
    missing = [name for name in wanted if name not in given]
    if missing:
        raise ConfigError(file=file, key=key, expected=f"an entry for each of {missing}", given=sorted(given))


def _together(*groups: Mapping[str, list[str]]) -> dict[str, list[str]]:
    languages = dict.fromkeys(lang for group in groups for lang in group)
    return {lang: [text for group in groups for text in group.get(lang, ())] for lang in languages}


def _frozen(labels: Mapping[str, Mapping[str, list[str]]]) -> Texts:
    return {label: {lang: tuple(texts) for lang, texts in languages.items()} for label, languages in labels.items()}


def _compiled(
    cues: Mapping[Intent, list[str]] | Mapping[Sentiment, list[str]], *, key: str, file: str
) -> Mapping[str, tuple[Pattern, ...]]:
    try:
        return {
            label: tuple(compile_pattern(text, case_sensitive=False) for text in texts) for label, texts in cues.items()
        }
    except DefinitionError as error:
        raise ConfigError(file=file, key=key, expected="RE2 patterns", given=str(error)) from error
