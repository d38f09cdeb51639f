"""Charts that ask the local model, and what is known of their calls afterwards."""

from __future__ import annotations

from typing import Any

import stateward as sw
from stateward.config import ModelConfig
from stateward.govern.policy import Policy
from stateward.models import chat_model
from stateward.run.store.database import Database
from tests.charts.one import compiled
from tests.llm.shim import Shim

WORDS = 12
"""The most tokens of one reply."""
DOLLARS = 1.0
"""For a million tokens, so that money can be told from tokens by six places."""
HELLO = "Say hello to Ann."


def role(shim: Shim, *, name: str = "voice", **config: Any) -> sw.ModelRole:
    """A role as configuration makes it."""
    price = {"usd_per_million_input": DOLLARS, "usd_per_million_output": 2 * DOLLARS}
    said: dict[str, Any] = {"max_output_tokens": WORDS, **price, **config}
    return chat_model(name, ModelConfig(provider="openai", model="smollm2", base_url=shim.url, **said), env={})


async def ask(state: Any, run: sw.Run[Any]) -> Any:
    """Ask in one piece."""
    return {"text": (await run.model().ainvoke(HELLO)).text}


def ask_sync(state: Any, run: sw.SyncRun[Any]) -> Any:
    """The same, not awaited."""
    return {"text": run.model().invoke(HELLO).text}


async def listen(state: Any, run: sw.Run[Any]) -> Any:
    """Take the words as they come, and say each."""
    parts: list[str] = []
    async for chunk in run.model().astream(HELLO):
        run.emit(chunk.text)
        parts.append(chunk.text)
    return {"text": "".join(parts)}


def listen_sync(state: Any, run: sw.SyncRun[Any]) -> Any:
    """The same, not awaited."""
    return {"text": "".join(chunk.text for chunk in run.model().stream(HELLO))}


def asking(do: Any, *roles: sw.ModelRole, policy: Policy | None = None, **state: Any) -> sw.ChartGraph:
    """A chart whose state declares the first role; what fails leads to HELP."""
    handles = ("error", "fuse", "timeout")
    models = {each.name: each for each in roles}
    return compiled(do, models=models, model=roles[0].name, policy=policy, handles=handles, **state)


def outcomes(database: Database) -> list[tuple[str, str]]:
    """The roles that were asked for the only model call, and how that went."""
    (entry,) = [each for each in database.journal.entries("s1") if each.kind == "model"]
    return [(each["role"], each["outcome"]) for each in entry.attempts]


def tokens(database: Database) -> tuple[int, int]:
    """Tokens sent and received, as the journal has them."""
    entries = [each for each in database.journal.entries("s1") if each.kind == "model"]
    return sum(each.tokens_in for each in entries), sum(each.tokens_out for each in entries)


def told(shim: Shim) -> tuple[int, int]:
    """Tokens sent and received, as the server counted them."""
    return sum(each["prompt_tokens"] for each in shim.used), sum(each["completion_tokens"] for each in shim.used)
