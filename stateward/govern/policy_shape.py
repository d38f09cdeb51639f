"""The shape of a policy file: its sections, each described beside its kind in `kinds`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from stateward.govern.kinds.contract_spec import ContractShape
from stateward.govern.kinds.contract_spec import FieldType as FieldType
from stateward.govern.kinds.contract_spec import ItemType as ItemType
from stateward.govern.kinds.data import DataShape
from stateward.govern.kinds.fuses import FusesShape
from stateward.govern.kinds.models import ModelRuleShape
from stateward.govern.kinds.pace import PaceShape
from stateward.govern.kinds.redaction import RedactionShape
from stateward.govern.kinds.shape import Level as Level
from stateward.govern.kinds.shape import Name
from stateward.govern.kinds.timeouts import TimeoutsShape
from stateward.govern.kinds.tools import ToolsShape
from stateward.govern.kinds.window import WindowShape

DEFAULT_MODE = "strict"


class PolicyContent(TimeoutsShape):
    """What a policy says, and what each of its modes may say otherwise."""

    fuses: FusesShape = FusesShape()
    pace: PaceShape | None = None
    tools: ToolsShape | None = None
    data: DataShape | None = None
    redact: RedactionShape | None = None
    window: WindowShape | None = None
    models: dict[Name, ModelRuleShape] = Field(default_factory=dict[str, ModelRuleShape])
    contracts: dict[Name, ContractShape] = Field(default_factory=dict[str, ContractShape])
    observe: bool = False


class PolicyFile(PolicyContent):
    """A whole policy file, after its mode was laid over it."""

    version: Annotated[int, Field(ge=1, le=1)]
    name: Name | None = None
    mode: Name = DEFAULT_MODE
    modes: dict[Name, dict[str, object]] = Field(default_factory=dict[str, dict[str, object]])
