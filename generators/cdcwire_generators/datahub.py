"""Events after a round trip in DataHub: rows of few types; other values travel as text.

A Tuple topic has ten types, a Blob message six. A column of MySQL takes the narrowest of them that
holds its values; dates, labels and JSON are texts. Blob says more about a source than the model.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from types import MappingProxyType

from cdcwire.core.options import OptionValue
from cdcwire.format import Format
from cdcwire.model import kinds
from cdcwire.model.events import Half, Image, RowChange, Table
from cdcwire.model.kind_text import kind_text
from cdcwire.model.kinds import Column, Value
from cdcwire.model.temporal import count_text, temporal_text
from cdcwire.mysql.values import vector_text
from cdcwire_generators.feeds import FeedTraits
from cdcwire_generators.round_trip import NotCarriedError, Options, RoundTrip, kind_name
from cdcwire_generators.samples import Need, has_options

UTC = "+00:00"
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MICROSECOND = timedelta(microseconds=1)
_PER_UNIT = {"ms": 1000, "us": 1}
_MAX_DIGITS = 1020  # of a DECIMAL, written without an exponent
DATAHUB_FEED = FeedTraits(
    family="datahub",
    position_fields=("sequence_id", "commit_ms"),
    is_plausible=True,
    shared_clauses=("datahub",),
)
# LZ4 is not drawn: it needs functions that the standard library lacks.
COMPRESSIONS: Mapping[str, tuple[OptionValue, ...]] = MappingProxyType(
    {
        "compression": ("none", "deflate", "zlib"),
        "content-encoding": ("none", "deflate"),
    }
)


# Features of both formats: the encodings of a body, and its compressions.
BODIES: Mapping[str, Need] = MappingProxyType(
    {
        "protobuf bodies": has_options("encoding", ("protobuf",)),
        "batch bodies": has_options("encoding", ("batch",)),
        "compression": lambda sample: any(
            sample.options.get(name, "none") != "none"
            for name in ("compression", "content-encoding")
        ),
    }
)


class DataHubRoundTrip(RoundTrip, ABC):
    """The common part of both: values, and the rows of an update."""

    def __init__(self, through: Format, options: Options, feed: FeedTraits) -> None:
        super().__init__(through, options, feed)
        self.splits_updates = True

    def _rows(self, event: RowChange) -> Iterable[RowChange]:
        is_update = event.op == "update"
        if event.op not in ("insert", "update", "delete") or (event.half and not is_update):
            raise NotCarriedError("op")
        has_before = event.op == "delete" or (is_update and event.half != "after")
        has_after = event.op == "insert" or (is_update and event.half != "before")
        if (event.before is not None, event.after is not None) != (has_before, has_after):
            raise NotCarriedError("op")
        event = self._row(event)
        if not (has_before and has_after and self.splits_updates):
            yield event
            return
        halves: tuple[Half, Half] = ("before", "after")
        yield replace(event, after=None, half=halves[0])
        yield replace(event, before=None, half=halves[1])

    def _row(self, event: RowChange) -> RowChange:
        position = event.position
        if position.sequence_id is None or position.commit_ms is None:
            raise NotCarriedError("position")
        return replace(
            event,
            before=self._image(event.before, event.table),
            after=self._image(event.after, event.table),
            position=self._position(position),
            sent=None,
            extra={},
        )

    def _image(self, image: Image | None, table: Table) -> Image | None:
        if image is None:
            return None
        if not image.columns or len(set(image.names)) < len(image.names):
            raise NotCarriedError("columns")
        columns = tuple(self._column(column, table) for column in image.columns)
        values = image.pairs
        return Image(columns, tuple(self._value(column, value) for column, value in values))

    @abstractmethod
    def _kind(self, kind: kinds.Type) -> tuple[str, kinds.Type]:
        """Return the name of the type that holds values of a kind, and its own kind."""

    def _value(self, column: Column, value: Value) -> Value:
        _, to = self._kind(column.type)
        if value is None:
            return None
        name = kind_name(column.type, value)
        if not self._holds(self.format.carries.kinds[name]):
            raise NotCarriedError(name)
        try:
            return _converted(column.type, to, value)
        except (ValueError, OverflowError) as error:
            raise NotCarriedError(kind_text(column.type)) from error


def text_type(kind: kinds.Type) -> tuple[str, kinds.Type]:
    """Return STRING and the text kind, for kinds that travel as text.

    Raises: NotCarriedError.
    """
    if isinstance(kind, (kinds.ArrayType, kinds.MapType, kinds.StructType, kinds.UnknownType)):
        raise NotCarriedError(kind_text(kind))
    return "STRING", kinds.TextType()


def _converted(kind: kinds.Type, to: kinds.Type, value: Value) -> Value:
    """Return a value as it is in another kind. Raises: ValueError where it has none."""
    match to:
        case kinds.TimestampType(form=form):
            assert isinstance(kind, kinds.TimestampType)
            count, rest = divmod(_microseconds(kind, value), _PER_UNIT[form])
            if rest:
                raise ValueError("digits after the milliseconds")
            return count
        case kinds.TextType():
            return value if isinstance(kind, kinds.TextType) else _text_of(kind, value)
        case kinds.IntType(bits):
            if not -(1 << bits - 1) <= value < 1 << bits - 1:
                raise ValueError("a number beyond its type")
            return value
        case kinds.DecimalType():
            text = _text_of(kind, value)
            if isinstance(value, str) or len(text) > _MAX_DIGITS:
                raise ValueError("not a DECIMAL")
            return Decimal(text)
        case _:
            return value


def _text_of(kind: kinds.Type, value: Value) -> str:
    match kind:
        case kinds.DecimalType() if isinstance(value, Decimal):
            return f"{value:f}"
        case kinds.EnumType(labels):
            if isinstance(value, str) or labels is None:
                return str(value)
            return ("", *labels)[value] if 0 <= value <= len(labels) else _no_label()
        case kinds.SetType(labels):
            if isinstance(value, str) or labels is None:
                return str(value)
            if value >> len(labels):
                _no_label()
            return ",".join(label for bit, label in enumerate(labels) if value >> bit & 1)
        case kinds.VectorType():
            return vector_text(value)
        case kinds.TimestampType(zone=str()):
            # The text is followed by the zone, which it would not say otherwise.
            return f"{_in_utc(kind, value)}{UTC}"
        case kinds.DateType() | kinds.TimeType() | kinds.DatetimeType() | kinds.TimestampType():
            text = temporal_text(kind, value, None)
            assert text is not None
            return text
        case _:
            return str(value)


def _no_label() -> str:
    raise ValueError("a number without a label")


def _in_utc(kind: kinds.TimestampType, value: Value) -> str:
    if kind.form != "text" and kind.zone is not None:
        return count_text(kind, value)  # a count is one of UTC, in whatever zone it is shown
    text = temporal_text(kind, value, UTC)
    assert text is not None
    return text


def _microseconds(kind: kinds.TimestampType, value: Value) -> int:
    """Return an instant as microseconds since 1970. Raises: ValueError, OverflowError."""
    if kind.form != "text":
        per_second = {"ms": 10**3, "us": 10**6, "ns": 10**9}[kind.form]
        found, rest = divmod(value * 10**6, per_second)
        if rest:
            raise ValueError("digits after the microseconds")
        return int(found)
    text = _in_utc(kind, value)
    moment = datetime.fromisoformat(text.partition(".")[0]).replace(tzinfo=timezone.utc)
    digits = text.partition(".")[2]
    return (moment - _EPOCH) // _MICROSECOND + int(digits.ljust(6, "0") or "0")
