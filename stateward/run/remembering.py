"""The long-term store as an activity sees it: what it puts there is redacted.

A key or a namespace is never changed, because two of them could become one: one that would have to be is refused.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from langgraph.store.base import BaseStore, Op, PutOp, Result
from pydantic_core import to_jsonable_python

from stateward.errors import RunError
from stateward.govern.effective import Effective
from stateward.govern.kinds.redaction import Finding
from stateward.govern.redact import redact
from stateward.govern.sink import taken_out


class Remembering(BaseStore):
    """A store that takes findings out of what is put into it.

    Args:
        store: Where things are kept.
        classes: What is taken out.
        path: The state that uses it, for messages.
    """

    def __init__(self, store: BaseStore, *, classes: Collection[Finding], path: str) -> None:
        self._store = store
        self._classes = classes
        self._path = path
        self.supports_ttl = store.supports_ttl
        self.ttl_config = store.ttl_config

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Do several things at once.

        Args:
            ops: As LangGraph's stores take them.

        Raises:
            RunError: Something would have to be taken out of a key.
        """
        return self._store.batch([self._clean(op) for op in ops])

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Do several things at once.

        Args:
            ops: As LangGraph's stores take them.

        Raises:
            RunError: Something would have to be taken out of a key.
        """
        return await self._store.abatch([self._clean(op) for op in ops])

    # Any: stores have more than LangGraph's base knows of, such as `setup`.
    def __getattr__(self, name: str) -> Any:
        """Return what else the store has.

        Args:
            name: Of an attribute.
        """
        return getattr(self._store, name)

    def _clean(self, op: Op) -> Op:
        if not isinstance(op, PutOp) or op.value is None:
            return op
        where = [*op.namespace, op.key]
        if redact(where, classes=self._classes) != where:
            raise RunError(
                "A namespace or a key of the store has something in it that its policy keeps out of memory",
                where=self._path,
                fix="Make the key of something else, an id or a hash of it: a redacted key could be that of another.",
            )
        return op._replace(value=_redacted(op.value, classes=self._classes))


def _redacted(value: Mapping[str, Any], *, classes: Collection[Finding]) -> dict[str, Any]:
    """Redact a value; one that is no plain data is made plain if there is anything to take out of it."""
    clean = redact(dict(value), classes=classes)
    plain = to_jsonable_python(value, serialize_unknown=True, bytes_mode="base64")
    seen = redact(plain, classes=classes)
    return clean if seen == plain or clean != value else seen


def remembering(store: BaseStore | None, *, effective: Effective) -> BaseStore | None:
    """Put the redaction of a state before a store.

    Args:
        store: LangGraph's; None if the graph has none.
        effective: The policy of the state.
    """
    if store is None:
        return None
    return Remembering(store, classes=taken_out(effective, sink="memory"), path=effective.path)
