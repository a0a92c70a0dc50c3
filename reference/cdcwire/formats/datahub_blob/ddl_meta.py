"""The statement's text in ``ddlMeta``, a serialised Java object of the parsed statement.

The text is read within bounds. Nothing is executed, and no class is made. The tree after the text
stays bytes. Source: datahub-blob, "ddlMeta".
"""

from __future__ import annotations

from cdcwire.core.errors import DecodeError
from cdcwire.core.reader import Reader
from cdcwire.model.paths import Path

CLAUSE = "datahub-blob: ddlMeta"
CLASS_NAME = "com.alibaba.di.plugin.center.meta.DDLMeta"
TEXT_MEMBER = "ddlText"

JAVA_STREAM = b"\xac\xed\x00\x05"  # magic and version of a Java Object Serialization stream
_TC_NULL, _TC_CLASSDESC, _TC_OBJECT, _TC_STRING = 0x70, 0x72, 0x73, 0x74
_TC_END, _TC_LONGSTRING = 0x78, 0x7C
_OF_OBJECTS = bytes((_TC_OBJECT, _TC_CLASSDESC))
_SERIALIZABLE = 0x02
_PRIMITIVES = frozenset(b"BCDFIJSZ")


class DdlTextMismatchError(DecodeError):
    """The text in the object is not the text of the message."""

    def __init__(self, text: str, meta_text: str, offset: int = 0, path: Path = ()) -> None:
        problem = f"the statement in ddlMeta is {meta_text!r:.80}, but text is {text!r:.80}"
        super().__init__(problem, offset, CLAUSE, path)
        self.text = text
        self.meta_text = meta_text

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.text, self.meta_text, self.offset, self.path)


def check_ddl_text(text: str, meta: bytes) -> None:
    """Check the statement in a Java stream; an object of another class stays bytes.

    Raises: DecodeError, with an offset in ``meta``; DdlTextMismatchError.
    """
    found = ddl_text_of(meta)
    if found not in (None, text):
        raise DdlTextMismatchError(text, found or "")


def ddl_text_of(meta: bytes) -> str | None:
    """Return the statement in a Java stream; None if it is not of the class DDLMeta.

    Raises: DecodeError.
    """
    reader = Reader(meta)
    if reader.take(len(JAVA_STREAM), CLAUSE) != JAVA_STREAM:
        raise DecodeError("not a Java stream, which begins with AC ED 00 05", 0, CLAUSE)
    if reader.take(min(len(_OF_OBJECTS), reader.left), CLAUSE) != _OF_OBJECTS:
        return None
    if _text(reader, 2) != CLASS_NAME:
        return None
    reader.take(8, CLAUSE)  # serialVersionUID
    _expect(reader, _SERIALIZABLE, "the flag of a serializable class")
    members = _members(reader)
    _expect(reader, _TC_END, "the end of the description")
    _expect(reader, _TC_NULL, "no superclass")
    return _value_of(reader, members, TEXT_MEMBER)


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
