"""The fast decoder: Connect's messages to envelopes, with the plain decoder behind it.

It accepts and rejects exactly what ``cdcwire.connect.decode`` does, by construction: what is not as
JsonConverter writes it is given to the plain decoder. A schema that came before is known by its
bytes, and its payload is read by one pattern, which leaves no room for members that are missing,
strange or there twice. Schemas with arrays and maps are not read so.
"""

from __future__ import annotations

import re
import struct
from binascii import a2b_base64
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from json import JSONDecoder
from typing import Any

from cdcwire.connect.decimals import MAX_DECIMAL_BYTES, decimal_of
from cdcwire.connect.envelope import Envelope, SchemasEnable, decode, known_schema
from cdcwire.connect.schema import INT_BITS, ConnectValue, Schema
from cdcwire.connect.strings import quoted
from cdcwire.connect.types import CONNECT_DECIMAL, CONNECT_TIME, decimal_scale
from cdcwire.golang.numbers import read_float32

_BORDER = b'},"payload":'
_MAX_PLANS = 64
_MAX_HEAD_BYTES = 1 << 18
_MAX_GROUPS = 1024
_MAX_MS_OF_DAY = 86_400_000
_DOUBLE, _BITS, _FLOAT32 = (struct.Struct(form) for form in ("<d", "<Q", "<f"))
_read_json = JSONDecoder().raw_decode
_LOW_BITS, _MIDDLE = (1 << 29) - 1, 1 << 28  # what a double has more than a float
_LEAST_FLOAT32, _GREATEST_FLOAT32 = 1.2e-38, 3.4028234e38
_WORTH_A_PLAN = 2  # messages of one schema before its pattern is made

# No number of this form is too large for a double; the few others are read by the plain decoder.
_FLOAT = r"-?(?:0|[1-9][0-9]{0,199})(?:\.[0-9]{1,1000})?(?:[eE][+-]?[0-9]{1,2}|[eE]-[0-9]{3})?"
_PLAIN = r'[^"\\\x00-\x1f]*'
_STRING = rf'"({_PLAIN}(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{{4}}){_PLAIN})*)"'
_BASE64 = '"([A-Za-z0-9+/]*={0,2})"'


class _IrregularError(ValueError):
    """The value is for the plain decoder."""


@dataclass(frozen=True, slots=True, eq=False)
class PayloadReader:
    """Reads payloads of one schema, as JsonConverter writes them."""

    schema: Schema
    match: Callable[[str], re.Match[str] | None]
    convert: Callable[..., ConnectValue]

    def read(self, data: bytes) -> ConnectValue:
        """Return the value of a payload's bytes. Raises: ValueError, for what is not as usual."""
        found = self.match(data.decode())
        if found is None:
            raise _IrregularError
        return self.convert(*found.groups())


def payload_reader(schema: Schema) -> PayloadReader | None:
    """Return a reader of payloads; None for a schema with arrays, maps or very many fields."""
    writer = _Writer()
    try:
        pattern, expression = writer.value(schema)
    except _IrregularError:
        return None
    names = ", ".join(f"g{index}" for index in range(writer.groups))
    source = f"def convert({names}):\n return {expression}\n"
    exec(source, writer.functions)  # numbers of groups and names of functions only
    return PayloadReader(schema, re.compile(pattern).fullmatch, writer.functions["convert"])


class EnvelopeDecoder:
    """Decodes the messages of a feed. Keep one: it learns the schemas that it meets.

    What is remembered is bounded, whatever the messages hold. Not to be shared between threads.
    """

    def __init__(self, schemas_enable: SchemasEnable = "auto") -> None:
        self.schemas_enable: SchemasEnable = schemas_enable
        self._readers: OrderedDict[bytes, PayloadReader | None] = OrderedDict()
        self._seen: OrderedDict[bytes, int] = OrderedDict()

    def decode(self, data: bytes) -> Envelope:
        """Return schema and payload. Raises: the same as ``cdcwire.connect.decode``."""
        head = data[: data.find(_BORDER) + len(_BORDER)]
        reader = self._readers.get(head)
        if reader is not None and data.endswith(b"}") and self.schemas_enable != "false":
            try:
                return Envelope(reader.schema, reader.read(data[len(head) : -1]))
            except (ValueError, RecursionError):
                pass  # left behind here, so that an error of the plain decoder stands alone
        found = decode(data, self.schemas_enable)
        if reader is None and found.schema is not None and found.wrapped:
            self._learn(data, head)
        return found

    def _learn(self, data: bytes, head: bytes) -> None:
        """Remember a schema that comes again, if the bytes in front are all that tell it."""
        if head in self._readers or len(head) > _MAX_HEAD_BYTES:
            return
        count = self._seen.pop(head, 0) + 1
        if count < _WORTH_A_PLAN:
            self._seen[head] = count
            if len(self._seen) > _MAX_PLANS:
                self._seen.popitem(last=False)
            return
        known = known_schema(data)
        if known is None or known[0] != len(head):
            return
        self._readers[head] = payload_reader(known[1])
        if len(self._readers) > _MAX_PLANS:
            self._readers.popitem(last=False)


@dataclass(slots=True)
class _Writer:
    """Writes the pattern of a payload, and the expression that makes values of its groups."""

    groups: int = 0
    functions: dict[str, Any] = field(
        default_factory=lambda: {
            "booleans": {"true": True, "false": False},
            "unescaped": _unescaped,
            "float32": _float32,
            "a2b": a2b_base64,
            "decimal_of": decimal_of,
            "irregular": _irregular,
            "time": _time,
        }
    )

    def group(self) -> str:
        if self.groups >= _MAX_GROUPS:
            raise _IrregularError
        self.groups += 1
        return f"g{self.groups - 1}"

    def value(self, schema: Schema) -> tuple[str, str]:
        """Return the pattern of a value and the expression for it."""
        if schema.type == "struct":
            pattern, expression, name = self.struct(schema)
        else:
            name = self.group()
            pattern, expression = self.primitive(schema, name)
        if schema.optional:
            return f"(?:null|{pattern})", f"(None if {name} is None else {expression})"
        return pattern, expression

    def struct(self, schema: Schema) -> tuple[str, str, str]:
        name = self.group()
        parts = [(field.name, *self.value(field.schema)) for field in schema.fields]
        members = ",".join(f"{re.escape(quoted(member))}:{part}" for member, part, _ in parts)
        values = "".join(f"{expression}," for _, _, expression in parts)
        return f"(\\{{){members}\\}}", f"({values})", name

    def primitive(self, schema: Schema, name: str) -> tuple[str, str]:
        match schema.type:
            case "int8" | "int16" | "int32" | "int64":
                is_time = schema.name == CONNECT_TIME
                return (
                    f"({integer_pattern(INT_BITS[schema.type])})",
                    f"{'time' if is_time else 'int'}({name})",
                )
            case "string":
                return _STRING, f'({name} if "\\\\" not in {name} else unescaped({name}))'
            case "boolean":
                return "(true|false)", f"booleans[{name}]"
            case "double":
                return f"({_FLOAT})", f"float({name})"
            case "float":
                return f"({_FLOAT})", f"float32({name})"
            case "bytes" if schema.name == CONNECT_DECIMAL:
                scale = decimal_scale(schema) or 0
                fits = f"0 < len({name}) <= {MAX_DECIMAL_BYTES} and not len({name}) % 4"
                return _BASE64, f"(decimal_of(a2b({name}), {scale}) if {fits} else irregular())"
            case "bytes":
                return _BASE64, f"(irregular() if len({name}) % 4 else a2b({name}))"
            case _:
                raise _IrregularError


@lru_cache(maxsize=4)
def integer_pattern(bits: int) -> str:
    """Return a pattern of the integers of so many bits."""
    limit = str((1 << bits - 1) - 1)
    size = len(limit)
    choices = ["0", f"[1-9][0-9]{{0,{size - 2}}}"]
    for place, digit in enumerate(limit):
        least = 1 if place == 0 else 0
        if int(digit) > least:
            rest = f"[0-9]{{{size - place - 1}}}"
            choices.append(f"{limit[:place]}[{least}-{int(digit) - 1}]{rest}")
    choices.append(limit)
    return f"-?(?:{'|'.join(choices)})|-{1 << bits - 1}"


def _unescaped(text: str) -> str:
    found: str = _read_json(f'"{text}"')[0]
    found.encode()  # a surrogate alone is refused by the plain decoder
    return found


def _float32(text: str) -> float:
    wide = float(text)
    if not _LEAST_FLOAT32 < abs(wide) < _GREATEST_FLOAT32:
        if wide == 0.0:
            return wide
        raise _IrregularError
    packed = _DOUBLE.pack(wide)
    # Where a double lies just between two floats, the text itself decides.
    if _BITS.unpack(packed)[0] & _LOW_BITS == _MIDDLE:
        return read_float32(text)
    narrowed: float = _FLOAT32.unpack(_FLOAT32.pack(wide))[0]
    return narrowed


def _irregular() -> ConnectValue:
    raise _IrregularError


def _time(text: str) -> int:
    value = int(text)
    if not 0 <= value <= _MAX_MS_OF_DAY:
        raise _IrregularError
    return value
