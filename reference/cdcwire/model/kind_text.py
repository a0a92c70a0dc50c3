"""The written form of a type: ``int64 unsigned``, ``decimal(10,4)``."""

from __future__ import annotations

import re

from cdcwire.model import kinds
from cdcwire.model.kinds import Column


def kind_text(kind: kinds.Type) -> str:
    """Return a type as it is written: ``int64 unsigned``, ``decimal(10,4)``, ``enum(a,b)``."""
    match kind:
        case kinds.BoolType():
            return "bool"
        case kinds.IntType(bits, unsigned):
            return f"int{bits} unsigned" if unsigned else f"int{bits}"
        case kinds.FloatType(bits):
            return f"float{bits}"
        case kinds.DecimalType(precision, scale):
            if precision is None:
                return "decimal" if scale is None else f"decimal(*,{scale})"
            return f"decimal({precision},{scale or 0})"
        case kinds.TextType(length):
            return _with_number("text", length)
        case kinds.BytesType(length):
            return _with_number("bytes", length)
        case kinds.BitType(length):
            return _with_number("bit", length)
        case kinds.DateType():
            return "date"
        case kinds.TimeType(fraction):
            return _with_number("time", fraction)
        case kinds.DatetimeType(fraction):
            return _with_number("datetime", fraction)
        case kinds.TimestampType(fraction):
            return _with_number("timestamp", fraction)
        case kinds.YearType():
            return "year"
        case kinds.IntervalType():
            return "interval"
        case kinds.EnumType(labels):
            return _with_labels("enum", labels)
        case kinds.SetType(labels):
            return _with_labels("set", labels)
        case kinds.JsonType():
            return "json"
        case kinds.VectorType():
            return "vector"
        case kinds.ArrayType(item):
            return f"array<{kind_text(item)}>"
        case kinds.MapType(key, value):
            return f"map<{kind_text(key)},{kind_text(value)}>"
        case kinds.StructType(columns):
            fields = ",".join(f"{_escape(c.name)}:{kind_text(c.type)}" for c in columns)
            return f"struct<{fields}>"
        case kinds.UnknownType():
            return "unknown"


def parse_kind(text: str) -> kinds.Type:
    """Return the type that ``text`` writes, in the forms of ``kind_text``.

    Raises: ValueError, with the place in the text, when it is not such a form.
    """
    parser = _KindParser(text)
    kind = parser.kind()
    if parser.offset != len(text):
        raise ValueError(f"type {text!r}: character {parser.offset} is not expected")
    return kind


_SPECIAL = re.compile(r"([\\,:()<>])")
_INTEGERS: dict[str, kinds.IntBits] = {
    "int8": 8,
    "int16": 16,
    "int24": 24,
    "int32": 32,
    "int64": 64,
}
_NESTING_LIMIT = 32
_NUMBERS = re.compile(r"\((\d{1,10})(?:, ?(-?\d{1,9}))?\)")
_SCALE_ONLY = re.compile(r"\(\*, ?(-?\d{1,9})\)")
_WORD = re.compile(r"[a-z]+[0-9]*")
_LABEL = re.compile(r"(?:\\.|[^\\,:()<>])*", re.DOTALL)
_PLAIN: dict[str, kinds.Type] = {
    "bool": kinds.BoolType(),
    "float32": kinds.FloatType(32),
    "float64": kinds.FloatType(64),
    "date": kinds.DateType(),
    "year": kinds.YearType(),
    "interval": kinds.IntervalType(),
    "json": kinds.JsonType(),
    "vector": kinds.VectorType(),
    "unknown": kinds.UnknownType(),
}
_MEASURED: dict[str, kinds.Type] = {
    "decimal": kinds.DecimalType(),
    "text": kinds.TextType(),
    "bytes": kinds.BytesType(),
    "bit": kinds.BitType(),
    "time": kinds.TimeType(),
    "datetime": kinds.DatetimeType(),
    "timestamp": kinds.TimestampType(),
}


def _escape(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text)


def _with_number(word: str, number: int | None) -> str:
    return word if number is None else f"{word}({number})"


def _with_labels(word: str, labels: tuple[str, ...] | None) -> str:
    return word if labels is None else f"{word}({','.join(map(_escape, labels))})"


class _KindParser:
    """Recursive descent over the written form; nesting is limited."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.offset = 0
        self.depth = 0

    def kind(self) -> kinds.Type:
        self.depth += 1
        if self.depth > _NESTING_LIMIT:
            raise ValueError(f"type {self.text[:40]!r}…: nested deeper than {_NESTING_LIMIT}")
        kind = self._kind(self._word())
        self.depth -= 1
        return kind

    def _kind(self, word: str) -> kinds.Type:
        if word in _INTEGERS:
            unsigned = self._skip(" unsigned")
            return kinds.IntType(_INTEGERS[word], unsigned)
        if word in _PLAIN:
            return _PLAIN[word]
        if word in _MEASURED:
            return self._measured(word)
        match word:
            case "enum":
                return kinds.EnumType(self._labels())
            case "set":
                return kinds.SetType(self._labels())
            case "array":
                self._expect("<")
                item = self.kind()
                self._expect(">")
                return kinds.ArrayType(item)
            case "map":
                self._expect("<")
                key = self.kind()
                self._expect(",")
                value = self.kind()
                self._expect(">")
                return kinds.MapType(key, value)
            case "struct":
                return kinds.StructType(self._fields())
            case _:
                raise ValueError(f"type {self.text!r}: {word!r} is not a kind")

    def _measured(self, word: str) -> kinds.Type:
        scale = _SCALE_ONLY.match(self.text, self.offset) if word == "decimal" else None
        if scale is not None:
            self.offset = scale.end()
            return kinds.DecimalType(None, int(scale[1]))
        found = _NUMBERS.match(self.text, self.offset)
        if found is None:
            return _MEASURED[word]
        self.offset = found.end()
        first, second = (None if group is None else int(group) for group in found.groups())
        if word == "decimal":
            return kinds.DecimalType(first, second or 0)
        if second is not None:
            raise ValueError(f"type {self.text!r}: {word} has one number")
        kind = _MEASURED[word]
        if isinstance(kind, (kinds.TextType, kinds.BytesType, kinds.BitType)):
            return type(kind)(length=first)
        assert isinstance(kind, (kinds.TimeType, kinds.DatetimeType, kinds.TimestampType))
        return type(kind)(fraction=first)

    def _word(self) -> str:
        found = _WORD.match(self.text, self.offset)
        if found is None:
            raise ValueError(f"type {self.text!r}: a kind is expected at character {self.offset}")
        self.offset = found.end()
        return found.group()

    def _skip(self, token: str) -> bool:
        if self.text.startswith(token, self.offset):
            self.offset += len(token)
            return True
        return False

    def _expect(self, token: str) -> None:
        if not self._skip(token):
            raise ValueError(f"type {self.text!r}: {token!r} is expected at {self.offset}")

    def _labels(self) -> tuple[str, ...] | None:
        if not self._skip("("):
            return None
        labels = [self._label()]
        while self._skip(","):
            labels.append(self._label())
        self._expect(")")
        return tuple(labels)

    def _label(self) -> str:
        found = _LABEL.match(self.text, self.offset)
        assert found is not None  # the pattern matches the empty text too
        self.offset = found.end()
        return re.sub(r"\\(.)", r"\1", found.group(), flags=re.DOTALL)

    def _fields(self) -> tuple[Column, ...]:
        self._expect("<")
        fields: list[Column] = []
        while not self._skip(">"):
            if fields:
                self._expect(",")
            name = self._label()
            self._expect(":")
            fields.append(Column(name, self.kind()))
        return tuple(fields)
