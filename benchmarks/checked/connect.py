"""Connect's payloads by ``json`` and a checked plan for each schema.

A schema is known by its bytes, as in the fast decoder, so only the payload is parsed.
"""

from __future__ import annotations

import re
from binascii import a2b_base64
from collections.abc import Callable
from typing import Any, TypeAlias

from cdcwire.connect import ConnectValue, Envelope, EnvelopeDecoder, Schema
from cdcwire.connect.payload_patterns import _FLOAT, _float32, _range
from cdcwire.connect.scalars import MAX_DECIMAL_BYTES, decimal_of
from cdcwire.connect.types import CONNECT_DECIMAL, decimal_scale
from cdcwire.core.compiled import IRREGULARITIES, Irregular
from cdcwire.core.compiled.json_objects import Real, read_pairs

_Read: TypeAlias = Callable[[Any], Any]

_BORDER = b'},"payload":'
_BASE64 = re.compile("[A-Za-z0-9+/]*={0,2}").fullmatch
_JAVA_FLOAT = re.compile(_FLOAT).fullmatch


class PlanReader:
    """Reads payloads of one schema."""

    def __init__(self, schema: Schema) -> None:
        if schema.type != "struct" or schema.optional:
            raise Irregular
        self.schema = schema
        self._read = reader_of(schema)

    def read(self, data: bytes) -> ConnectValue:
        """Return the value of a payload's bytes. Raises: one of IRREGULARITIES."""
        return self._read(read_pairs(data))


class PlanEnvelopeDecoder(EnvelopeDecoder):
    """Decodes messages as the fast decoder does, except how it reads a payload."""

    _plans: dict[bytes, PlanReader]

    def usual(self, data: bytes) -> Envelope | None:
        head = data[: data.find(_BORDER) + len(_BORDER)]
        plans = self._plans = getattr(self, "_plans", {})
        plan = plans.get(head)
        if plan is None:
            known = self.heads.find(data)
            if known is None or known[1] is None:
                return None
            plan = plans[head] = PlanReader(known[1].schema)
        if not data.endswith(b"}") or self.schemas_enable == "false":
            return None
        try:
            return Envelope(plan.schema, plan.read(data[len(head) : -1]))
        except IRREGULARITIES:
            return None


def reader_of(schema: Schema) -> _Read:
    """Return what turns parsed JSON into a value. It raises one of IRREGULARITIES."""
    read = _reader_of(schema)
    optional = schema.optional

    def read_or_null(value: Any) -> Any:
        if value is None:
            if not optional:
                raise Irregular
            return None
        return read(value)

    return read_or_null


def _reader_of(schema: Schema) -> _Read:
    match schema.type:
        case "int8" | "int16" | "int32" | "int64":
            low, end = _range(schema)

            def integer(value: object) -> int:
                if type(value) is not int or not low <= value < end:
                    raise Irregular
                return value

            return integer
        case "string":
            return _text
        case "boolean":
            return _boolean
        case "float":
            return _float
        case "double":
            return _double
        case "bytes":
            return _bytes_reader(schema)
        case "struct":
            return _struct_reader(schema)
        case _:
            raise Irregular  # the workloads have no arrays and maps


def _struct_reader(schema: Schema) -> _Read:
    names = tuple(each.name for each in schema.fields)
    readers = [reader_of(each.schema) for each in schema.fields]

    def read(pairs: object) -> tuple[Any, ...]:
        if type(pairs) is not tuple or tuple([name for name, _ in pairs]) != names:
            raise Irregular
        return tuple([read(value) for read, (_, value) in zip(readers, pairs, strict=True)])

    return read


def _text(value: object) -> str:
    if type(value) is not str:
        raise Irregular
    if not value.isascii():
        value.encode()  # a lone surrogate is a ValueError
    return value


def _boolean(value: object) -> bool:
    if type(value) is not bool:
        raise Irregular
    return value


def _float(value: object) -> float:
    if type(value) is not Real or _JAVA_FLOAT(value) is None:
        raise Irregular
    return _float32(value)


def _double(value: object) -> float:
    if type(value) is not Real:
        raise Irregular
    number = float(value)
    if number - number:  # infinity less itself is not a number
        raise Irregular
    return number


def _bytes_reader(schema: Schema) -> _Read:
    is_decimal = schema.name == CONNECT_DECIMAL
    scale = (decimal_scale(schema) or 0) if is_decimal else 0

    def read(text: object) -> Any:
        if type(text) is not str or len(text) & 3 or _BASE64(text) is None:
            raise Irregular
        if is_decimal and not 0 < len(text) <= MAX_DECIMAL_BYTES:
            raise Irregular
        raw = a2b_base64(text)
        return decimal_of(raw, scale) if is_decimal else raw

    return read
