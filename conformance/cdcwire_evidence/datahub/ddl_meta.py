"""The statement object of a DDL (``ddlMeta``): its text, and with a library its tree.

``ddlMeta`` is a serialised Java object: of a class with two members, the statement's text and its
parsed form. Nothing in it is ever executed, and no class is made. ``read_ddl_meta`` reads up to the
text by itself, with every length bounded; ``statement_of`` needs ``javaobj-py3``
(``requirements.txt``) and gives the tree as plain values.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

from cdcwire.core.errors import DecodeError
from cdcwire.core.reader import Reader

CLAUSE = "datahub-blob: ddlMeta"
CLASS_NAME = "com.alibaba.di.plugin.center.meta.DDLMeta"
TEXT_MEMBER = "ddlText"
MAX_BYTES = 4 * 1024 * 1024
MAX_DEPTH = 100
MAX_NODES = 100_000

# A node of the tree: the scalars of Java, lists, and objects as (class name, members).
Tree: TypeAlias = "bool | int | float | str | list[Tree] | JavaObject | Reference | None"

_STREAM = b"\xac\xed\x00\x05"
_TC_NULL, _TC_REFERENCE, _TC_CLASSDESC, _TC_OBJECT, _TC_STRING = 0x70, 0x71, 0x72, 0x73, 0x74
_TC_END, _TC_LONGSTRING = 0x78, 0x7C
_SERIALIZABLE = 0x02
_PRIMITIVES = frozenset(b"BCDFIJSZ")
_BROKEN = (
    ValueError, EOFError, LookupError, AttributeError, TypeError, AssertionError, OSError,
    RecursionError, NotImplementedError, NameError, struct.error,
)  # fmt: skip


class DdlTextMismatchError(ValueError):
    """The text in the object is not the text beside it."""


class LibraryMissingError(RuntimeError):
    """The package that reads Java streams is not installed."""


@dataclass(frozen=True, slots=True)
class DdlMeta:
    """The head of an object: its class, and the statement's text."""

    class_name: str
    ddl_text: str


@dataclass(frozen=True, slots=True)
class JavaObject:
    """An object as data: the name of its class, and its members by name."""

    class_name: str
    members: Mapping[str, Tree]


@dataclass(frozen=True, slots=True)
class Reference:
    """An object that stands further up in the tree, as in a child's member ``parent``."""

    class_name: str


def read_ddl_meta(meta: bytes) -> DdlMeta:
    """Return the class and the text of a statement object; its tree is left opaque.

    Raises: DecodeError for bytes that are no such object.
    """
    reader = Reader(meta)
    if reader.take(len(_STREAM), CLAUSE) != _STREAM:
        raise DecodeError("a Java stream begins with AC ED 00 05", 0, CLAUSE)
    _expect(reader, _TC_OBJECT, "an object")
    _expect(reader, _TC_CLASSDESC, "the description of a class")
    name = _text(reader, 2)
    if name != CLASS_NAME:
        raise DecodeError(f"an object of class {name:.80}", 6, CLAUSE, ("class",))
    reader.take(8, CLAUSE)  # serialVersionUID
    _expect(reader, _SERIALIZABLE, "the flag of a serializable class")
    members = _members(reader)
    _expect(reader, _TC_END, "the end of the description")
    _expect(reader, _TC_NULL, "no superclass")
    return DdlMeta(name, _value_of(reader, members, TEXT_MEMBER))


def _expect(reader: Reader, wanted: int, what: str) -> None:
    at = reader.offset
    found = reader.byte(CLAUSE)
    if found != wanted:
        raise DecodeError(f"byte {found:#04x} was found where {what} is expected", at, CLAUSE)


def _members(reader: Reader) -> list[tuple[int, str]]:
    """Return the type codes and names of a class's members, in the order of their values."""
    count = int.from_bytes(reader.take(2, CLAUSE), "big")
    members = []
    for _ in range(count):
        at = reader.offset
        code = reader.byte(CLAUSE)
        name = _text(reader, 2)
        if code in b"L[":
            if reader.byte(CLAUSE) == _TC_STRING:
                _text(reader, 2)
            else:
                raise DecodeError("a member's class is not text", at, CLAUSE, (name,))
        elif code not in _PRIMITIVES:
            raise DecodeError(f"{code:#04x} is not a type of a member", at, CLAUSE, (name,))
        members.append((code, name))
    return members


def _value_of(reader: Reader, members: list[tuple[int, str]], wanted: str) -> str:
    sizes = {
        ord(code): size for code, size in zip("BCDFIJSZ", (1, 2, 8, 4, 4, 8, 2, 1), strict=True)
    }
    for code, name in members:
        if name == wanted and code == ord("L"):
            at = reader.offset
            kind = reader.byte(CLAUSE)
            if kind in (_TC_STRING, _TC_LONGSTRING):
                return _text(reader, 2 if kind == _TC_STRING else 8)
            raise DecodeError(f"{wanted} is not text", at, CLAUSE, (wanted,))
        if code not in sizes:
            break  # an object in front of the text would have to be read whole
        reader.take(sizes[code], CLAUSE)
    raise DecodeError(f"{wanted} is missing before the first object", reader.offset, CLAUSE)


def _text(reader: Reader, size_bytes: int) -> str:
    size = int.from_bytes(reader.take(size_bytes, CLAUSE), "big")
    at = reader.offset
    return modified_utf8(reader.take(size, CLAUSE), at)


def modified_utf8(raw: bytes, offset: int = 0) -> str:
    """Return Java's text: NUL is C0 80, a character beyond the BMP a pair of surrogates.

    Raises: DecodeError.
    """
    if any(byte >= 0xF0 or byte == 0 for byte in raw):
        raise DecodeError("not modified UTF-8: a byte is 0 or at least 0xf0", offset, CLAUSE)
    try:
        units = raw.replace(b"\xc0\x80", b"\0").decode("utf-8", "surrogatepass")
        return units.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    except UnicodeDecodeError as error:
        raise DecodeError("not modified UTF-8", offset, CLAUSE) from error


def check_ddl_text(text: str, meta: bytes) -> DdlMeta:
    """Return the head of an object whose text is that of its message.

    Raises: DdlTextMismatchError, DecodeError.
    """
    found = read_ddl_meta(meta)
    if found.ddl_text != text:
        raise DdlTextMismatchError(
            f"ddl.text is {text!r:.200}, but ddlMeta has {found.ddl_text!r:.200}"
        )
    return found


def statement_of(meta: bytes) -> JavaObject:
    """Return the statement's tree as plain values.

    Raises: DecodeError for bytes that can't be read, or are larger or deeper than the limits;
    LibraryMissingError.
    """
    read_ddl_meta(meta)
    if len(meta) > MAX_BYTES:
        raise DecodeError(f"{len(meta)} bytes; up to {MAX_BYTES} are read", 0, CLAUSE)
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
        raise DecodeError(problem, 0, CLAUSE) from error
    statement = tree.members.get("statement") if isinstance(tree, JavaObject) else None
    if not isinstance(statement, JavaObject):
        raise DecodeError("there is no statement in the object", 0, CLAUSE, ("statement",))
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
            raise DecodeError(problem, 0, CLAUSE)
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
