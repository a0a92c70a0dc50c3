"""Column values: the field of each kind, to and from the neutral model.

Numbers are bare, everything else is a string: quoted where the settings have a quote, escaped where
they have none. NULL is bare always. Without a quote its text may also be a value of a string; then
the field is read as NULL and flagged as ambiguous.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, TypeAlias

from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.core.json_strings import read_base64, write_base64
from cdcwire.formats.csv.escapes import escape, unescape
from cdcwire.formats.csv.message import Field
from cdcwire.formats.csv.records import field_of, text_of
from cdcwire.formats.csv.settings import Settings
from cdcwire.golang import plain_digits, usual_text32
from cdcwire.model import kinds
from cdcwire.model.floats import narrow_float32, read_float32, shortest_digits
from cdcwire.model.kind_text import kind_text
from cdcwire.model.kinds import UNAVAILABLE, Value, index_of_label, mask_of_labels
from cdcwire.mysql.value_texts import read_value, value_text
from cdcwire.mysql.values import is_vector_text, read_text, read_vector, vector_text

CLAUSE_KINDS = "csv: kinds of fields"
CLAUSE_NULL = "csv: null values"
CLAUSE_AMBIGUOUS = "csv: ambiguous null"
CLAUSE_SCHEMA = "csv: schema"

_Read: TypeAlias = Callable[[bytes], Value]

_FLOAT = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?")
_HEX_DIGITS = re.compile(rb"(?:[0-9a-f]{2})+")
_MAX_FLOAT_DIGITS = 512
_TEMPORAL = (kinds.DateType, kinds.TimeType, kinds.DatetimeType, kinds.TimestampType)


@dataclass(frozen=True, slots=True, eq=False)
class ColumnCodec:
    """How the fields of one column are read and written.

    ``is_bare``: a number. ``null_is_text``: the NULL text is a text of this column.
    ``null_is_ambiguous``: it may be one.
    """

    kind: kinds.Type
    clause: str
    is_bare: bool
    null_is_text: bool
    null_is_ambiguous: bool
    read_text: _Read
    settings: Settings

    def read(self, field: Field, start: int) -> tuple[Value, bool]:
        """Return the value of the field at ``start``, and whether it is an ambiguous NULL.

        Raises: DecodeError.
        """
        settings = self.settings
        if not field.is_quoted and field.raw == settings.null and not self.null_is_text:
            return None, self.null_is_ambiguous
        may_be_bare = self.is_bare or isinstance(self.kind, kinds.VectorType)
        if field.is_quoted and self.is_bare:
            problem = f"{field.raw[:80]!r:.80} is quoted, and {kind_text(self.kind):.80} is not"
            raise DecodeError(problem, start, CLAUSE_KINDS)
        if settings.quote and not field.is_quoted and not may_be_bare:
            problem = f"{field.raw[:80]!r:.80} is not quoted, and not NULL ({settings.null!r})"
            raise DecodeError(problem, start, CLAUSE_KINDS)
        text = field.raw if self.is_bare else text_of(field, settings)
        try:
            return self.read_text(text), False
        except UnicodeDecodeError as error:
            raise DecodeError(f"{text[:80]!r:.80} is not UTF-8", start, self.clause) from error
        except ValueError as error:
            raise DecodeError(str(error), start, self.clause) from error

    def write(self, kind: kinds.Type, value: Value) -> Field:
        """Return the field of a value of ``kind``. Raises: EncodeError."""
        if value is None:
            if self.null_is_text:
                problem = f"NULL would be read back as text, {self.settings.null!r}"
                raise EncodeError(problem, CLAUSE_AMBIGUOUS)
            return Field(self.settings.null, False)
        if value is UNAVAILABLE:
            raise EncodeError("an unavailable value has no form here", self.clause)
        try:
            text = _text(self.kind, kind, value, self.settings)
            self.read_text(text)
        except UnicodeEncodeError as error:
            raise EncodeError("the text is not UTF-8", self.clause) from error
        except ValueError as error:
            raise EncodeError(str(error), self.clause) from error
        return Field(text, False) if self.is_bare else field_of(text, self.settings)


@lru_cache(maxsize=1024)
def column_codec(kind: kinds.Type, nullable: bool | None, settings: Settings) -> ColumnCodec:
    """Return how the fields of a column are read and written.

    Raises: EncodeError for kinds that MySQL does not have.
    """
    kind = file_kind(kind, settings)
    clause, read = _clause_and_reader(kind, settings)
    is_bare = isinstance(kind, (kinds.IntType, kinds.BitType, kinds.YearType, kinds.FloatType))
    could_be_text = not is_bare and null_may_be_text(settings)
    if could_be_text:
        could_be_text = _may_be_value(kind, read, settings)
    return ColumnCodec(
        kind,
        clause,
        is_bare,
        could_be_text and nullable is False,
        could_be_text and nullable is not False,
        read,
        settings,
    )


def file_kind(kind: kinds.Type, settings: Settings) -> kinds.Type:
    """Return a kind with the form and the zone that values have in files.

    A BOOLEAN is a TINYINT(1), which holds any number of its 8 bits.
    """
    match kind:
        case kinds.BoolType():
            return kinds.IntType(8)
        case kinds.DateType() | kinds.TimeType() | kinds.DatetimeType():
            return replace(kind, form="text")
        case kinds.TimestampType():
            return replace(kind, form="text", zone=settings.time_zone)
        case kinds.EnumType() | kinds.SetType():
            return replace(kind, form="label")
        case _:
            return kind


def float_text(value: float, kind: kinds.FloatType) -> str:
    """Return a finite number as the producer writes it.

    Shape: shortest digits; ``d[.ddd]e±XX`` from an exponent of 6 on and below -4.
    Source: csv, "float values".
    """
    magnitude = abs(value)
    if kind.bits == 32:
        usual = usual_text32(value)
        if usual:
            return usual
    elif 1e-3 <= magnitude < 1e6 or magnitude >= 1e16:  # Python writes these in the same way
        return repr(value).removesuffix(".0")
    sign, digits, exponent = shortest_digits(value, kind.bits)
    if -4 <= exponent < 6:
        return sign + plain_digits(digits, exponent)
    fraction = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{fraction}e{exponent:+03d}"


def null_may_be_text(settings: Settings) -> bool:
    """Return whether some text is written as the bytes of NULL."""
    return (
        not settings.quote and escape(unescape(settings.null), settings.delimiter) == settings.null
    )


def _may_be_value(kind: kinds.Type, read: _Read, settings: Settings) -> bool:
    """Return whether the text of NULL may be a value of a string kind.

    JSON is not looked into, so it may be anything but empty. For strings, binary values, enums and
    sets nothing is tried: what is not a value now may be one under other labels.
    """
    if isinstance(kind, kinds.UnknownType):
        return False
    if not isinstance(kind, (kinds.DecimalType, kinds.JsonType, kinds.VectorType, *_TEMPORAL)):
        return True
    try:
        read(unescape(settings.null))
    except ValueError:
        return False
    return True


def _clause_and_reader(kind: kinds.Type, settings: Settings) -> tuple[str, _Read]:
    match kind:
        case kinds.BoolType() | kinds.IntType():
            return "csv: integer values", _plain_reader(kind)
        case kinds.BitType() | kinds.YearType():
            return "csv: bit and year values", _plain_reader(kind)
        case kinds.FloatType(bits):
            return "csv: float values", _read_float32 if bits == 32 else _read_float64
        case kinds.DecimalType():
            return "csv: decimal values", _plain_reader(kind)
        case kinds.DateType() | kinds.TimeType() | kinds.DatetimeType() | kinds.TimestampType():
            return "csv: temporal values", _plain_reader(kind)
        case kinds.JsonType():
            return "csv: json values", _plain_reader(kind)
        case kinds.TextType():
            return "csv: text values", read_text
        case kinds.BytesType(length):
            is_hex = settings.binary_encoding == "hex"
            return "csv: binary values", _read_hex if is_hex else _base64_reader(length)
        case kinds.EnumType():
            return "csv: enum and set values", _enum_reader(kind)
        case kinds.SetType():
            return "csv: enum and set values", _set_reader(kind)
        case kinds.VectorType():
            return "csv: vector values", _read_vector
        case kinds.UnknownType():
            return CLAUSE_SCHEMA, _read_nothing
        case kinds.IntervalType() | kinds.ArrayType() | kinds.MapType() | kinds.StructType():
            raise EncodeError(f"MySQL has no type for {kind_text(kind):.80}", CLAUSE_SCHEMA)


def _plain_reader(kind: kinds.Type) -> _Read:
    return lambda raw: read_value(kind, raw.decode())


def _number(raw: bytes) -> str:
    text = raw[: _MAX_FLOAT_DIGITS + 1].decode("ascii", "replace")
    if len(raw) > _MAX_FLOAT_DIGITS or not _FLOAT.fullmatch(text):
        raise ValueError(f"{raw[:80]!r:.80} is not a number")
    return text


def _read_float64(raw: bytes) -> Value:
    return _finite(float(_number(raw)), raw)


def _read_float32(raw: bytes) -> Value:
    return _finite(read_float32(_number(raw)), raw)


def _finite(value: float, raw: bytes) -> float:
    if math.isinf(value):
        raise ValueError(f"{raw[:80]!r:.80} is too large")
    return value


def _read_base64(raw: bytes) -> Value:
    try:
        return read_base64(raw.decode("ascii"), 0, "csv: binary values")
    except UnicodeDecodeError:
        raise ValueError(f"{raw[:80]!r:.80} is not base64") from None
    except DecodeError as error:
        raise ValueError(f"{raw[:80]!r:.80} is not base64: {error.problem}") from None


def _base64_reader(length: int | None) -> _Read:
    """Return the reader of base64 that knows hexadecimal digits by the length of the column."""
    if length is None:
        return _read_base64

    def read(raw: bytes) -> Value:
        value = _read_base64(raw)
        if len(value) > length >= len(raw) // 2 and _HEX_DIGITS.fullmatch(raw):
            raise ValueError(
                f"{len(value)} bytes, where the column has at most {length}: these are hexadecimal "
                "digits, so give the producer's option binary-encoding-method=hex"
            )
        return value

    return read


def _read_hex(raw: bytes) -> Value:
    try:
        value = bytes.fromhex(raw.decode("ascii"))
    except ValueError:
        value = b""
    if value.hex().encode() != raw:
        raise ValueError(f"{raw[:80]!r:.80} is not hex in lower case")
    return value


def _enum_reader(kind: kinds.EnumType) -> _Read:
    def read(raw: bytes) -> Value:
        label = raw.decode()
        if kind.labels is not None and label not in kind.labels:
            raise ValueError(f"{label[:80]!r:.80} is not an element of {kind_text(kind):.200}")
        return label

    return read


def _set_reader(kind: kinds.SetType) -> _Read:
    def read(raw: bytes) -> Value:
        text = raw.decode()
        if kind.labels is not None and _set_text(kind, mask_of_labels(kind, text)) != text:
            raise ValueError(
                f"{text[:80]!r:.80} is not made of {kind_text(kind):.200}, in this order"
            )
        return text

    return read


def _read_vector(raw: bytes) -> Value:
    text = raw.decode()
    if not is_vector_text(text):
        raise ValueError(f"{text[:80]!r:.80} is not a vector")
    return read_vector(text)


def _read_nothing(raw: bytes) -> Value:
    raise ValueError("a column of an unknown type has no values, only NULL")


def _text(kind: kinds.Type, sent: kinds.Type, value: Any, settings: Settings) -> bytes:
    """Return the text of a value of kind ``sent`` in a column of ``kind``. Raises: ValueError."""
    match kind, sent:
        case kinds.IntType(), kinds.BoolType() | kinds.IntType():
            return value_text(sent, value).encode()
        case kinds.FloatType(bits), kinds.FloatType() if isinstance(value, float):
            if not math.isfinite(value):
                raise ValueError(f"{kind_text(kind)} has no {value}")
            if bits == 32 and narrow_float32(value) != value:
                raise ValueError(f"{value!r} is not a 32-bit float")
            return float_text(value, kind).encode()
        case kinds.TextType(), kinds.TextType() if isinstance(value, (str, bytes)):
            return value.encode() if isinstance(value, str) else value
        case kinds.BytesType(), kinds.BytesType() if isinstance(value, bytes):
            return (
                value.hex() if settings.binary_encoding == "hex" else write_base64(value)
            ).encode()
        case kinds.EnumType(), kinds.EnumType():
            return _enum_text(kind, sent, value).encode()
        case kinds.SetType(), kinds.SetType():
            if sent.labels is None and isinstance(value, str):
                return value.encode()
            labelled = sent if sent.labels is not None else kind
            return _set_text(labelled, mask_of_labels(labelled, value)).encode()
        case kinds.VectorType(), kinds.VectorType() if isinstance(value, tuple):
            if not all(isinstance(each, float) and narrow_float32(each) == each for each in value):
                raise ValueError("a vector holds finite 32-bit floats only")
            return vector_text(value).encode()
        case ((kinds.TimeType() | kinds.DatetimeType() | kinds.TimestampType()), _) if type(
            kind
        ) is type(sent):
            assert isinstance(sent, (kinds.TimeType, kinds.DatetimeType, kinds.TimestampType))
            if sent.fraction is None:
                sent = replace(sent, fraction=kind.fraction)
            return value_text(sent, value, settings.time_zone).encode()
        case kinds.DecimalType(_, scale), kinds.DecimalType():
            return _padded(value_text(sent, value), scale or 0).encode()
        case ((kinds.BitType() | kinds.YearType() | kinds.DateType() | kinds.JsonType()), _) if (
            type(kind) is type(sent)
        ):
            return value_text(sent, value).encode()
    raise ValueError(
        f"{value!r:.80} of kind {kind_text(sent):.80} is not a value of {kind_text(kind):.80}"
    )


def _padded(text: str, scale: int) -> str:
    """Return a decimal number with all digits of its scale."""
    whole, _, fraction = text.partition(".")
    return text if len(fraction) >= scale else f"{whole}.{fraction:0<{scale}}"


def _enum_text(kind: kinds.EnumType, sent: kinds.EnumType, value: Value) -> str:
    if isinstance(value, str):
        return value
    labels = sent.labels if sent.labels is not None else kind.labels
    if labels is None:
        raise ValueError("an index has no label as long as the column's labels are not known")
    index = index_of_label(sent, value)
    if index is None or not 1 <= index <= len(labels):
        raise ValueError(f"{value!r:.80} is not an index of {len(labels)} elements")
    return labels[index - 1]


def _set_text(kind: kinds.SetType, mask: int | None) -> str:
    if mask == 0:
        return ""
    if kind.labels is None:
        raise ValueError("a bit mask has no labels as long as the column's are not known")
    if mask is None or not 0 < mask < 1 << len(kind.labels):
        raise ValueError(f"it is not a choice of {len(kind.labels)} elements")
    return ",".join(label for bit, label in enumerate(kind.labels) if mask >> bit & 1)
