"""The governor for other people's agents: a LangChain middleware that brings policies to a plain `create_agent`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace

from langchain_core.language_models import BaseChatModel
from langchain_core.tools import BaseTool

from stateward.govern.policy import Policy
from stateward.machine import TABLES_VARIABLE
from stateward.opening import audit_keys_here, keys_here
from stateward.prices import price_of
from stateward.run.door.breaker import model_name
from stateward.run.door.role import ModelRole
from stateward.run.door.tool import Effect, Tool
from stateward.run.governor.governor import AgentGovernor
from stateward.run.override import roles
from stateward.run.store.database import Database
from stateward.run.tables import Tables

__all__ = ["Governor"]


class Governor(AgentGovernor):
    """A LangChain middleware that takes every model and tool call of an agent through the door.

    Put it last: `create_agent(model, tools, middleware=[…, Governor(policy)])`. In a chart, or in a tool of another
    governed agent, the agent draws on the run around it and can only be tighter.

    Args:
        policy: What binds the agent, from `sw.load_policy`; None for what is around it only.
        name: What the agent is called in paths, in the audit log and in revocations.
        database: Where journal, ledger, asks and audit are, from `sw.open`. Left out, `STATEWARD_DB` says it; without
            that they are in the memory of this governor, or, under a checkpointer that keeps something, in a SQLite
            file of this folder.
        tools: Tools the agent gets: those of `sw.tool` keep their effect, their look-up and their process.
        models: What is known of models, by role: a `ModelRole` has prices and clearances.
        role: The role of a model that is in none of them; policies name it in `models`.
        effects: What a second run of one of LangChain's tools would do, by name; of others it is `once`.

    Raises:
        DefinitionError: The name cannot be one, or a tool or a model is none.

    Source: DESIGN decision 16.
    """

    def __init__(
        self,
        policy: Policy | None = None,
        *,
        name: str = "agent",
        database: Database | None = None,
        tools: Iterable[Tool | BaseTool] = (),
        models: Mapping[str, BaseChatModel | ModelRole] | None = None,
        role: str = "model",
        effects: Mapping[str, Effect] | None = None,
    ) -> None:
        tables = Tables(url=os.environ.get(TABLES_VARIABLE), keys=keys_here, audit_keys=audit_keys_here)
        tables.attached = database
        known = roles(models or {})
        super().__init__(
            policy, name=name, tables=tables, tools=tools, models=known, role=role, effects=effects, priced=_priced
        )


def _priced(role: ModelRole) -> ModelRole:
    """Give a role the price of its model, where the lists of prices know it."""
    if role.rates:
        return role
    price = price_of(model_name(role.model))
    return role if price is None else replace(role, **price.of_role)
