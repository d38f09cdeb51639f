"""LangGraph's long-term store with its values sealed.

Each value is bound to its namespace and key, which stay clear: they are what is searched for. What is sealed cannot be
searched by its content.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from langgraph.store.base import BaseStore, Item, Op, PutOp, Result, SearchOp

from stateward.errors import CheckpointError
from stateward.run.store.cipher import Cipher, TextCipher
from stateward.run.store.json_text import read_json, write_json

_KEY = "sealed"


class SealedStore(BaseStore):
    """A store whose values are sealed before another one stores them.

    Args:
        inner: The store.
        cipher: Seals the values.
    """

    def __init__(self, inner: BaseStore, *, cipher: Cipher) -> None:
        self.inner = inner
        self._cipher = cipher

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Do several operations.

        Args:
            ops: LangGraph's operations.

        Returns:
            Their results.

        Raises:
            CheckpointError: Values are searched by what they hold.
            CodecError: A value is not sealed, or belongs to another key.
        """
        return [self._opened(result) for result in self.inner.batch([self._sealed(op) for op in ops])]

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Do several operations; see `batch`."""
        return [self._opened(result) for result in await self.inner.abatch([self._sealed(op) for op in ops])]

    def _sealed(self, op: Op) -> Op:
        if isinstance(op, PutOp) and op.value is not None:
            text = write_json(op.value, where=f"store item `{op.key}`")
            return op._replace(value={_KEY: self._cipher.seal_text(text, *_place(op.namespace, op.key))}, index=False)
        if isinstance(op, SearchOp) and (op.filter or op.query):
            raise CheckpointError(
                "Encrypted values of the store cannot be searched by what they hold",
                where=f"namespace `{'/'.join(op.namespace_prefix)}`",
                fix="Search by namespace and look through what comes.",
            )
        return op

    def _opened(self, result: Result) -> Result:
        if isinstance(result, Item):
            return self._open(result)
        if isinstance(result, list):
            found: list[Any] = [self._open(one) if isinstance(one, Item) else one for one in result]
            return found
        return result

    def _open(self, item: Item) -> Item:
        item.value = read_json(open_value(item.value, self._cipher, namespace=item.namespace, key=item.key))
        return item


def open_value(value: Mapping[str, Any], cipher: TextCipher, *, namespace: tuple[str, ...], key: str) -> str:
    """Open a value as it is stored.

    Args:
        value: What the store inside holds.
        cipher: Sealed it, if anything did.
        namespace: Where it stands.
        key: Its key there.

    Returns:
        Its JSON; nothing where a clear value is read without a key.

    Raises:
        CodecError: It is not sealed and there are keys, is sealed and there are none, or belongs to another place.
    """
    return cipher.open_text(str(value.get(_KEY, "")), *_place(namespace, key))


def _place(namespace: tuple[str, ...], key: str) -> tuple[object, ...]:
    return ("store", *namespace, key)
