"""Models that one session brings in the place of its graph's."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from stateward.chart.argument import of_kind
from stateward.errors import DefinitionError
from stateward.govern.effective import Effective
from stateward.run.door.role import ModelRole, role_of
from stateward.run.plan import Machine


def roles(models: Mapping[str, object]) -> dict[str, ModelRole]:
    """Return models by role as the door takes them.

    Args:
        models: Chat models, with options bound or not, or roles with prices.

    Raises:
        DefinitionError: One is something else.
    """
    expected = "a mapping from roles to chat models"
    of_kind(models, Mapping, name="models", expected=expected, where="compile(models=…)")
    return {role: role_of(role, model) for role, model in models.items()}


def refuse_strange_roles(models: Mapping[str, object], machine: Machine) -> None:
    """Refuse a model that no state would ask for.

    Args:
        models: By role.
        machine: The lowered chart.

    Raises:
        DefinitionError: No state has a model of a role.
    """
    asked = {plan.role for plan in machine.plans.values() if plan.role is not None}
    known = asked | {name for policy in machine.effectives.values() for name in _others(policy, asked)}
    strange = sorted(models.keys() - known)
    if strange:
        raise DefinitionError(
            f"No state of graph `{machine.name}` has a model of the role `{strange[0]}`",
            where="`models`",
            fix=f"Its roles: {', '.join(sorted(known)) or 'none'}.",
        )


def _others(policy: Effective, asked: Collection[str]) -> Iterator[str]:
    """Yield the roles that may answer in the place of those that are asked."""
    for each in policy.models:
        if each.role in asked:
            yield from each.rule.fallback or ()
