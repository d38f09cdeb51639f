"""The limit of what a model may write, in the words of its provider, so that nothing else in a request lifts it.

| class of LangChain | sent as |
|---|---|
| `ChatOpenAI` | `max_completion_tokens`; with the Responses API LangChain makes `max_output_tokens` of it |
| `ChatGoogleGenerativeAI`, `ChatVertexAI` | `max_output_tokens` |
| `ChatOllama` | its `num_predict` |
| `ChatAnthropic`, other OpenAI-compatible ones, any other | `max_tokens` |

With all of them the limit is for text and reasoning together.
Every other spelling is taken out of the request, also where it stands inside another option.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, cast

from langchain_core.language_models import BaseChatModel
from pydantic import BaseModel

SPELLINGS = (
    "max_tokens",
    "max_completion_tokens",
    "max_output_tokens",
    "max_new_tokens",
    "max_tokens_to_sample",
    "maxOutputTokens",
    "maxTokens",
    "num_predict",
    "n_predict",
)
NESTS = ("extra_body", "model_kwargs", "generation_config", "options")
"""Options whose content a provider reads like the options themselves."""
REPEATS = ("n", "best_of", "candidate_count", "candidateCount", "num_return_sequences")
"""How many replies a provider is asked for; each may be as long as the limit."""
READ = (*SPELLINGS, *REPEATS, *NESTS)
"""Fields of a model that count as if they were options."""
_SPELLINGS, _NESTS, _REPEATS = frozenset(SPELLINGS), frozenset(NESTS), frozenset(REPEATS)
_OPTIONS = "options"
_NUM_PREDICT = "num_predict"
_USUAL = getattr(BaseModel, "__getattr__", None)
_PARAMETERS = {
    "ChatOpenAI": "max_completion_tokens",
    "ChatGoogleGenerativeAI": "max_output_tokens",
    "ChatVertexAI": "max_output_tokens",
    "ChatOllama": _NUM_PREDICT,
}


def parameter_of(model: BaseChatModel) -> str:
    """Return the provider's own name of the output limit.

    Args:
        model: A bare chat model.
    """
    return next(
        (_PARAMETERS[kind.__name__] for kind in type(model).__mro__ if kind.__name__ in _PARAMETERS), SPELLINGS[0]
    )


def limit_in(
    options: Mapping[str, Any], *, model: BaseChatModel, parameter: str, own: Mapping[str, Any] | None = None
) -> int | None:
    """Return the smallest output limit that a request has already.

    Args:
        options: What is sent beside the messages. A limit that is no number above 0 is none.
        model: The model, whose own fields count too.
        parameter: The provider's own name of it.
        own: Those fields, from `said_by` with `READ`, where they are at hand.
    """
    names = _SPELLINGS | {parameter}
    places = _places(options, own=said_by(model, READ) if own is None else own)
    said = [each[name] for each in places for name in names & each.keys()]
    return min((limit for limit in said if isinstance(limit, int) and limit > 0), default=None)


def replies_in(options: Mapping[str, Any], *, model: BaseChatModel, own: Mapping[str, Any] | None = None) -> int | None:
    """Return how many replies a request asks for.

    Args:
        options: What is sent beside the messages.
        model: The model, whose own fields count too.
        own: As for `limit_in`.

    Returns:
        At least 1; None when what it says is no number.
    """
    places = _places(options, own=said_by(model, READ) if own is None else own)
    said = [each[name] for each in places for name in _REPEATS & each.keys() if each[name] is not None]
    if not all(isinstance(count, int) for count in said):
        return None
    return max((1, *said))


def forced(options: Mapping[str, Any], *, limit: int, parameter: str) -> dict[str, Any]:
    """Put a limit into options, in the place of every other.

    Args:
        options: What is sent beside the messages.
        limit: In tokens, more than 0.
        parameter: The provider's own name of it.

    Returns:
        The options with exactly one limit.
    """
    cut = _cut(options)
    if parameter != _NUM_PREDICT:
        return {**cut, parameter: limit}
    # Ollama reads it among its `options`; where none are given the model's own fields are read, see `forced_into`.
    return {**cut, _OPTIONS: {**cut[_OPTIONS], _NUM_PREDICT: limit}} if cut.get(_OPTIONS) else cut


def forced_into(model: BaseChatModel, *, limit: int, parameter: str) -> BaseChatModel:
    """Return a model whose own fields have no higher limit.

    Args:
        model: A bare chat model; it is not changed.
        limit: In tokens, more than 0.
        parameter: The provider's own name of it.
    """
    changed: dict[str, Any] = {}
    for name in NESTS:
        own = getattr(model, name, None)
        if isinstance(own, Mapping) and (cut := _cut(cast("Mapping[str, Any]", own))) != own:
            changed[name] = cut
    if parameter == _NUM_PREDICT and _NUM_PREDICT in type(model).model_fields:
        changed[_NUM_PREDICT] = limit
    return model.model_copy(update=changed) if changed else model


def _cut(options: Any) -> Any:
    """Take every limit out, however deep the options are nested in one another."""
    if not isinstance(options, Mapping):
        return options
    given = cast("Mapping[str, Any]", options)
    return {name: _cut(value) if name in NESTS else value for name, value in given.items() if name not in SPELLINGS}


def _places(options: Mapping[str, Any], *, own: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield everything that a provider reads: the options, the fields of the model, and what is nested in either."""
    yield from _nested(options)
    if own:
        yield from _nested({name: value for name, value in own.items() if name not in options})


def said_by(model: BaseChatModel, names: Collection[str]) -> dict[str, Any]:
    """Return the attributes of a model that are not None.

    Args:
        model: A bare chat model.
        names: Which.
    """
    wanted = frozenset(names)
    if getattr(type(model), "__getattr__", None) is _USUAL:
        # A Pydantic model takes long to say that it has no such field, and is asked for some twenty at each call.
        places = (vars(model), model.__pydantic_extra__ or {}, *map(vars, type(model).__mro__))
        found: set[str] = set()
        for place in places:
            found |= wanted & place.keys()
        if not found:
            return {}
        wanted = found
    said = {name: getattr(model, name, None) for name in names if name in wanted}
    return {name: value for name, value in said.items() if value is not None}


def _nested(options: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield options
    for name in _NESTS & options.keys():
        if isinstance(inner := options[name], Mapping):
            yield from _nested(cast("Mapping[str, Any]", inner))
