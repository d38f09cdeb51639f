"""Models that one session brings in the place of its graph's."""

from __future__ import annotations

from collections.abc import Mapping

from stateward.errors import DefinitionError
from stateward.run.door.role import ModelRole, role_of
from stateward.run.plan import Machine


def roles(models: Mapping[str, object]) -> dict[str, ModelRole]:
    """Return models by role as the door takes them.

    Args:
        models: Chat models, with options bound or not, or roles with prices.

    Raises:
        DefinitionError: One is something else.
    """
    return {role: role_of(role, model) for role, model in models.items()}


def refuse_strange_roles(models: Mapping[str, object], machine: Machine) -> None:
    """Refuse a model that no state would ask for.

    Args:
        models: By role.
        machine: The lowered chart.

    Raises:
        DefinitionError: No state has a model of a role.
    """
    known = {plan.role for plan in machine.plans.values() if plan.role is not None}
    strange = sorted(models.keys() - known)
    if strange:
        raise DefinitionError(
            f"No state of graph `{machine.name}` has a model of the role `{strange[0]}`",
            where="`models`",
            fix=f"Its roles: {', '.join(sorted(known)) or 'none'}.",
        )
