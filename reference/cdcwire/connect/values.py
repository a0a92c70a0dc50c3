"""Payload values by their schema, and back to the text that JsonConverter writes.

The reader is stricter than JsonConverter where it bends values in silence. These are errors:
integers out of range, numbers with a fraction as integers, ``"true"`` as a boolean, numbers too
large for a float. Not a number and the infinities are read, which JsonConverter's own reader turns
into 0.
"""

from __future__ import annotations

import binascii
import math
import re
from decimal import Decimal, InvalidOperation
from typing import Literal

from cdcwire.connect.scalars import (
    MAX_DECIMAL_BYTES,
    decimal_of,
    java_float_text,
    quoted,
    unscaled_bytes,
)
from cdcwire.connect.schema import INT_BITS, Field, Schema
from cdcwire.connect.schema import ConnectValue as Value
from cdcwire.connect.types import (
    BITS,
    CONNECT_DECIMAL,
    CONNECT_TIME,
    DEFINED,
    MAX_SCALE,
    VARIABLE_SCALE_DECIMAL,
    decimal_scale,
    is_variable_scale,
)
from cdcwire.core.errors import DecodeError, EncodeError, step
from cdcwire.core.json_strings import write_base64
from cdcwire.core.limits import MAX_DECIMAL_DIGITS, DecimalDigits
from cdcwire.core.strict_json import JsonArray, JsonObject, JsonValue, Number, json_kind
from cdcwire.model.floats import is_float32, read_float32

_INTEGERS = "connect: integer values"
_FLOATS = "connect: float values"
_BOOLEANS = "connect: boolean values"
_STRINGS = "connect: string values"
_BYTES = "connect: bytes values"
_ARRAYS = "connect: array values"
_MAPS = "connect: map values"
_STRUCTS = "connect: struct values"
_NULLS = "connect: null values"
_DECIMALS = "connect: decimal values"
_TIMES = "connect: time values"
_UNKNOWN = "connect: unknown members"
_LIMITS = "connect: limits"

CLAUSES: dict[str, str] = {
    **dict.fromkeys(INT_BITS, _INTEGERS),
    "float": _FLOATS,
    "double": _FLOATS,
    "boolean": _BOOLEANS,
    "string": _STRINGS,
    "bytes": _BYTES,
    "array": _ARRAYS,
    "map": _MAPS,
    "struct": _STRUCTS,
}
_RANGES = {name: (-(1 << bits - 1), (1 << bits - 1) - 1) for name, bits in INT_BITS.items()}
_UINT64 = (0, (1 << 64) - 1)
# Members of TiCDC's source that it writes as unsigned integers, and declares as int64.
TIDB_TIMESTAMPS = frozenset(
    ("io.debezium.connector.mysql.Source", name) for name in ("commit_ts", "start_ts")
)
_MAX_MS_OF_DAY = 86_400_000  # 24:00:00 itself appears
_MAX_NUMBER_TEXT = 4096
_SPECIAL_FLOATS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_SPECIAL_TEXTS = {"inf": '"Infinity"', "-inf": '"-Infinity"', "nan": '"NaN"'}
_JAVA_FLOAT = re.compile(r"-?[0-9]+\.[0-9]+(?:E-?[0-9]+)?")
_BASE64 = re.compile(r"[A-Za-z0-9+/]*={0,2}")
MAX_VALUE_DEPTH = 64
MAX_DEFAULT_BYTES = 1 << 24


class Reading:
    """The reading of one key or value: how nulls are read, and what is collected and counted.

    ``null_is_default``: a null of a schema with a default is the default, as JsonConverter has it.
    ``warnings``: members that the schemas do not have. ``is_loose``: they are not reported, since
    the producer sends members that it does not declare.
    """

    __slots__ = ("_default_bytes", "digits", "is_loose", "null_is_default", "warnings")

    def __init__(
        self, null_is_default: bool = False, max_decimal_digits: int = MAX_DECIMAL_DIGITS
    ) -> None:
        self.null_is_default = null_is_default
        self.is_loose = False
        self.warnings: list[str] = []
        self.digits = DecimalDigits(max_decimal_digits, _LIMITS)
        self._default_bytes = 0

    @property
    def added(self) -> int:
        """The bytes that defaults, and the digits that decimals, have added so far."""
        return self._default_bytes + self.digits.added

    def default_of(self, schema: Schema, offset: int) -> Value:
        """Return the default of a schema, and count its bytes. Raises: DecodeError."""
        self._default_bytes += schema.default_size
        if self._default_bytes > MAX_DEFAULT_BYTES:
            problem = f"defaults add more than {MAX_DEFAULT_BYTES} bytes"
            raise DecodeError(problem, offset, _LIMITS)
        return schema.default


def read_value(
    schema: Schema,
    json: JsonValue,
    start: int,
    end: int,
    reading: Reading | None = None,
) -> Value:
    """Return the value of the JSON value from ``start`` to ``end``. Raises: DecodeError."""
    if reading is None:
        reading = Reading()
    if json is None:
        if reading.null_is_default and schema.has_default:
            return reading.default_of(schema, start)
        if not schema.optional:
            raise DecodeError("null where a value is required", start, _NULLS)
        return None
    match schema.type:
        case "int8" | "int16" | "int32" | "int64":
            return _read_integer(schema, json, start)
        case "string":
            if isinstance(json, str):
                return json
            raise _mismatch(schema, json, start)
        case "boolean":
            if isinstance(json, bool):
                return json
            raise _mismatch(schema, json, start)
        case "float" | "double":
            return _read_float(schema, json, start)
        case "bytes":
            return _read_bytes(schema, json, start, reading)
        case "struct":
            return _read_struct(schema, json, start, end, reading)
        case "array":
            return _read_array(schema, json, start, reading)
        case _:
            return _read_map(schema, json, start, reading)


def write_value(schema: Schema, value: Value, depth: int = 1) -> str:
    """Return the text of a value. Raises: EncodeError, for what the schema does not take."""
    if value is None:
        if not schema.optional:
            raise EncodeError("a required value is NULL", _NULLS)
        return "null"
    if depth > MAX_VALUE_DEPTH:
        raise EncodeError(f"values are nested deeper than {MAX_VALUE_DEPTH}", _LIMITS)
    match schema.type:
        case "int8" | "int16" | "int32" | "int64":
            return _integer_text(schema, value)
        case "string":
            if isinstance(value, str):
                return quoted(value)
        case "boolean":
            if isinstance(value, bool):
                return "true" if value else "false"
        case "float" | "double":
            if isinstance(value, float):
                return _float_text(schema, value)
        case "bytes":
            return _bytes_text(schema, value)
        case "struct":
            return _struct_text(schema, value, depth)
        case "array":
            if isinstance(value, tuple) and schema.items is not None:
                return f"[{','.join(_item_texts(schema.items, value, depth))}]"
        case _:
            return _map_text(schema, value, depth)
    raise EncodeError(f"{value!r:.40} is not a valid {schema.type}", CLAUSES[schema.type])


def _mismatch(schema: Schema, json: JsonValue, start: int) -> DecodeError:
    problem = f"expected {schema.type}, as the schema says; found {json_kind(json)}"
    return DecodeError(problem, start, CLAUSES[schema.type])


def _read_integer(
    schema: Schema, json: JsonValue, start: int, limits: tuple[int, int] | None = None
) -> int:
    if not isinstance(json, Number):
        raise _mismatch(schema, json, start)
    if not json.is_integer:
        problem = f"{json.text:.40} is not written as an integer"
        raise DecodeError(problem, start, _INTEGERS)
    low, high = limits or _RANGES[schema.type]
    value = int(json.text) if json.digits <= 20 else high + 1
    if not low <= value <= high:
        raise DecodeError(f"{json.text:.40} is out of the range of {schema.type}", start, _INTEGERS)
    if schema.name == CONNECT_TIME and not 0 <= value <= _MAX_MS_OF_DAY:
        raise DecodeError(f"{value} is not a millisecond of a day", start, _TIMES)
    return value


def _integer_text(schema: Schema, value: Value) -> str:
    if not isinstance(value, int) or isinstance(value, bool):
        raise EncodeError(f"{value!r:.40} is not a valid {schema.type}", _INTEGERS)
    low, high = _RANGES[schema.type]
    if not low <= value <= high:
        raise EncodeError(f"{value} is out of the range of {schema.type}", _INTEGERS)
    if schema.name == CONNECT_TIME and not 0 <= value <= _MAX_MS_OF_DAY:
        raise EncodeError(f"{value} is not a millisecond of a day", _TIMES)
    return str(value)


class SentFloat(float):
    """A number that came in other digits than ours, as Java before 19 wrote it; ``text`` has them.

    It is equal to the number without them, and written as it came where the digits mean the same.
    """

    __slots__ = ("text",)
    text: str


def _sent_float(value: float, text: str) -> float:
    found = SentFloat(value)
    found.text = text
    return found


def _read_float(schema: Schema, json: JsonValue, start: int) -> float:
    if isinstance(json, str) and json in _SPECIAL_FLOATS:
        return _SPECIAL_FLOATS[json]
    if not isinstance(json, Number):
        raise _mismatch(schema, json, start)
    if len(json.text) > _MAX_NUMBER_TEXT:
        problem = f"a number of more than {_MAX_NUMBER_TEXT} characters"
        raise DecodeError(problem, start, _LIMITS)
    value = float(json.text) if schema.type == "double" else read_float32(json.text)
    if math.isinf(value):
        raise DecodeError(f"{json.text:.40} is out of the range of {schema.type}", start, _FLOATS)
    text, bits = json.text, _bits(schema)
    if (bits == 64 and repr(value) == text) or _JAVA_FLOAT.fullmatch(text) is None:
        return value
    return value if java_float_text(value, bits) == text else _sent_float(value, text)


def _float_text(schema: Schema, value: float) -> str:
    if not math.isfinite(value):
        return _SPECIAL_TEXTS[str(value)]
    bits = _bits(schema)
    if bits == 32 and not is_float32(value):
        raise EncodeError(f"{value!r} is not a float of 32 bits", _FLOATS)
    if isinstance(value, SentFloat) and _means(value.text, bits) == value:
        return value.text
    return java_float_text(value, bits)


def _bits(schema: Schema) -> Literal[32, 64]:
    return 64 if schema.type == "double" else 32


def _means(text: str, bits: int) -> float:
    return float(text) if bits == 64 else read_float32(text)


def _read_bytes(schema: Schema, json: JsonValue, start: int, reading: Reading) -> bytes | Decimal:
    scale = decimal_scale(schema) if schema.name == CONNECT_DECIMAL else None
    if scale is not None:
        reading.digits.add(scale, start)
    if scale is not None and isinstance(json, Number):
        return _decimal_number(json, scale, start, reading)
    if not isinstance(json, str):
        raise _mismatch(schema, json, start)
    if _BASE64.fullmatch(json) is None or len(json) % 4:
        problem = "the text is not base64 of the standard alphabet with padding"
        if schema.parameter(DEFINED) is not None and schema.name != BITS:
            setting = "binary" if scale is None else "decimal"
            problem = f"{problem}; check {setting}-handling-mode"
        raise DecodeError(problem, start, _BYTES)
    raw = binascii.a2b_base64(json)
    if scale is None:
        return raw
    if not raw:
        raise DecodeError("a Decimal has no bytes", start, _DECIMALS)
    if len(raw) > MAX_DECIMAL_BYTES:
        problem = f"a Decimal has more than {MAX_DECIMAL_BYTES} bytes"
        raise DecodeError(problem, start, _LIMITS)
    return decimal_of(raw, scale)


def _decimal_number(json: Number, scale: int, start: int, reading: Reading) -> Decimal:
    """Read a Decimal that is written as a JSON number, by JsonConverter's NUMERIC form."""
    if len(json.text) > _MAX_NUMBER_TEXT:
        problem = f"a number of more than {_MAX_NUMBER_TEXT} characters"
        raise DecodeError(problem, start, _LIMITS)
    try:
        value = Decimal(json.text)
        raw = unscaled_bytes(value, scale, _DECIMALS)
    except InvalidOperation as error:  # an exponent beyond what Decimal holds
        raise DecodeError(f"{json.text:.40} is out of range", start, _DECIMALS) from error
    except EncodeError as error:
        raise DecodeError(error.problem, start, _DECIMALS) from error
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)  # JSON has finite numbers only
    reading.digits.add(exponent, start)
    return decimal_of(raw, scale)


def _bytes_text(schema: Schema, value: Value) -> str:
    scale = decimal_scale(schema) if schema.name == CONNECT_DECIMAL else None
    if scale is not None:
        if not isinstance(value, Decimal):
            raise EncodeError(f"{value!r:.40} is not a Decimal", _DECIMALS)
        return f'"{write_base64(unscaled_bytes(value, scale, _DECIMALS))}"'
    if not isinstance(value, bytes):
        raise EncodeError(f"{value!r:.40} is not bytes", _BYTES)
    return f'"{write_base64(value)}"'


def _read_struct(
    schema: Schema,
    json: JsonValue,
    start: int,
    end: int,
    reading: Reading,
) -> tuple[Value, ...]:
    if not isinstance(json, JsonObject):
        raise _mismatch(schema, json, start)
    members = dict(json.by_name)
    values = []
    for field in schema.fields:
        member = members.pop(field.name, None)
        if member is None:
            values.append(_missing(field, end, reading))
            continue
        with step(field.name):
            if reading.is_loose and (schema.name, field.name) in TIDB_TIMESTAMPS:
                values.append(_read_integer(field.schema, member.value, member.start, _UINT64))
                continue
            values.append(read_value(field.schema, member.value, member.start, member.end, reading))
    if not reading.is_loose:
        reading.warnings.extend(
            f"member {name!r:.40} is not in the schema ({_UNKNOWN})" for name in members
        )
    if schema.name == VARIABLE_SCALE_DECIMAL and is_variable_scale(schema):
        scale = values[schema.index("scale") or 0]
        if isinstance(scale, int) and abs(scale) <= MAX_SCALE:  # others are refused as decimals
            reading.digits.add(scale, start)
    return tuple(values)


def _missing(field: Field, end: int, reading: Reading) -> Value:
    """Return the value of a field that the object has no member for."""
    if field.schema.has_default:
        with step(field.name):
            return reading.default_of(field.schema, end - 1)
    if not field.schema.optional:
        raise DecodeError(f"field {field.name!r:.40} is required", end - 1, _STRUCTS, (field.name,))
    return None


def _struct_text(schema: Schema, value: Value, depth: int) -> str:
    if not isinstance(value, tuple) or len(value) != len(schema.fields):
        raise EncodeError(f"a struct of {len(schema.fields)} fields is expected", _STRUCTS)
    pieces = []
    for field, item in zip(schema.fields, value, strict=True):
        with step(field.name):
            text = write_value(field.schema, item, depth + 1)
            pieces.append(f"{quoted(field.name)}:{text}")
    return f"{{{','.join(pieces)}}}"


def _read_array(
    schema: Schema,
    json: JsonValue,
    start: int,
    reading: Reading,
) -> tuple[Value, ...]:
    if not isinstance(json, JsonArray) or schema.items is None:
        raise _mismatch(schema, json, start)
    values = []
    for index, item in enumerate(json.items):
        with step(index):
            place = json.places[2 * index], json.places[2 * index + 1]
            values.append(read_value(schema.items, item, *place, reading))
    return tuple(values)


def _item_texts(items: Schema, values: tuple[Value, ...], depth: int) -> list[str]:
    texts = []
    for index, item in enumerate(values):
        with step(index):
            texts.append(write_value(items, item, depth + 1))
    return texts


def _read_map(
    schema: Schema,
    json: JsonValue,
    start: int,
    reading: Reading,
) -> tuple[tuple[Value, Value], ...]:
    keys, values = schema.keys, schema.values
    assert keys is not None  # a map's schema has both
    assert values is not None
    pairs: list[tuple[Value, Value]] = []
    if keys.type == "string":
        if not isinstance(json, JsonObject):
            raise _mismatch(schema, json, start)
        for member in json.members:
            with step(member.name):
                place = member.start, member.end
                value = read_value(values, member.value, *place, reading)
            pairs.append((member.name, value))
        return tuple(pairs)
    if not isinstance(json, JsonArray):
        raise _mismatch(schema, json, start)
    for index, item in enumerate(json.items):
        begin = json.places[2 * index]
        with step(index):
            if not isinstance(item, JsonArray) or len(item.items) != 2:
                raise DecodeError("an entry of a map is an array of two", begin, _MAPS)
            places = item.places
            key = read_value(keys, item.items[0], places[0], places[1], reading)
            value = read_value(values, item.items[1], places[2], places[3], reading)
        pairs.append((key, value))
    return tuple(pairs)


def _map_text(schema: Schema, value: Value, depth: int) -> str:
    keys, values = schema.keys, schema.values
    if not isinstance(value, tuple) or keys is None or values is None:
        raise EncodeError(f"{value!r:.40} is not a map", _MAPS)
    pieces = []
    seen: set[str] = set()
    for index, pair in enumerate(value):
        with step(index):
            if not isinstance(pair, tuple) or len(pair) != 2:
                raise EncodeError("an entry of a map is a pair", _MAPS)
            text = write_value(values, pair[1], depth + 2)
            if keys.type != "string":
                pieces.append(f"[{write_value(keys, pair[0], depth + 2)},{text}]")
                continue
            if not isinstance(pair[0], str) or pair[0] in seen:
                raise EncodeError(f"{pair[0]!r:.40} is not a key, or is duplicated", _MAPS)
            seen.add(pair[0])
            pieces.append(f"{quoted(pair[0])}:{text}")
    return f"[{','.join(pieces)}]" if keys.type != "string" else f"{{{','.join(pieces)}}}"
