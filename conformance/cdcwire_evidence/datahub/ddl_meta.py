"""The parsed statement in ``ddlMeta``, as plain values.

``ddlMeta`` is a serialised Java object. The codec reads its text
(``cdcwire.formats.datahub_blob.payload``); the tree needs ``javaobj-py3`` (``requirements.txt``).
Nothing in it is executed, and no class is made.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

from cdcwire.core.errors import DecodeError
from cdcwire.formats.datahub_blob.payload import CLAUSE_META, ddl_text_of

MAX_BYTES = 4 * 1024 * 1024
MAX_DEPTH = 100
MAX_NODES = 100_000

# A node of the tree: the scalars of Java, lists, and objects as (class name, members).
Tree: TypeAlias = "bool | int | float | str | list[Tree] | JavaObject | Reference | None"

_BROKEN = (
    ValueError, EOFError, LookupError, AttributeError, TypeError, AssertionError, OSError,
    RecursionError, NotImplementedError, NameError, struct.error,
)  # fmt: skip


class LibraryMissingError(RuntimeError):
    """The package that reads Java streams is not installed."""


@dataclass(frozen=True, slots=True)
class JavaObject:
    """An object as data: the name of its class, and its members by name."""

    class_name: str
    members: Mapping[str, Tree]


@dataclass(frozen=True, slots=True)
class Reference:
    """An object that stands further up in the tree, as in a child's member ``parent``."""

    class_name: str


def statement_of(meta: bytes) -> JavaObject:
    """Return the statement's tree as plain values.

    Raises: DecodeError for bytes that can't be read, or are larger or deeper than the limits;
    LibraryMissingError.
    """
    if ddl_text_of(meta) is None:
        raise DecodeError("not an object of the class DDLMeta", 0, CLAUSE_META)
    if len(meta) > MAX_BYTES:
        raise DecodeError(f"{len(meta)} bytes; up to {MAX_BYTES} are read", 0, CLAUSE_META)
    try:
        from javaobj.v2.beans import ExceptionRead
        from javaobj.v2.main import loads
    except ImportError as error:
        raise LibraryMissingError(
            "reading the tree needs the package javaobj-py3: pip install javaobj-py3"
        ) from error
    try:
        found = loads(meta)
        tree = _Trees().tree(found)
    except DecodeError:
        raise
    except (*_BROKEN, ExceptionRead) as error:
        problem = f"not a statement object: {type(error).__name__}: {str(error)[:200]}"
        raise DecodeError(problem, 0, CLAUSE_META) from error
    statement = tree.members.get("statement") if isinstance(tree, JavaObject) else None
    if not isinstance(statement, JavaObject):
        raise DecodeError("there is no statement in the object", 0, CLAUSE_META, ("statement",))
    return statement


class _Trees:
    """Turns the library's objects into plain values, up to the limits."""

    def __init__(self) -> None:
        self.open: list[int] = []  # ids of the objects that are being turned
        self.nodes = 0

    def tree(self, found: Any) -> Tree:
        from javaobj.v2 import beans

        self.nodes += 1
        if self.nodes > MAX_NODES or len(self.open) > MAX_DEPTH:
            problem = f"a tree of over {MAX_NODES} nodes or {MAX_DEPTH} levels"
            raise DecodeError(problem, 0, CLAUSE_META)
        match found:
            case bool() | int() | float() | str() | None:
                return found
            case beans.JavaString() | beans.JavaEnum():
                return str(found.value)
            case _:
                pass
        if isinstance(found, beans.JavaInstance) and not isinstance(found, list):
            return self._object(found)
        if isinstance(found, (list, tuple)):
            with self._opened(found):
                return [self.tree(item) for item in found]
        return str(found)[:200]

    def _object(self, found: Any) -> Tree:
        name = str(found.classdesc.name)
        if id(found) in self.open:
            return Reference(name)
        members: dict[str, Tree] = {}
        with self._opened(found):
            for fields in found.field_data.values():
                for field, value in fields.items():
                    members[str(field.name)] = self.tree(value)
        return JavaObject(name, members)

    @contextmanager
    def _opened(self, found: object) -> Iterator[None]:
        self.open.append(id(found))
        try:
            yield
        finally:
            self.open.pop()
