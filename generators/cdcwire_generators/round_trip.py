"""An event after a format has encoded and decoded it.

``RoundTrip`` is the prediction, the codecs are the truth, and the laws compare both. It knows the
verdicts of ``Format.carries``, the producer's options, and the family's way to describe columns; it
knows nothing of bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import TypeAlias

from cdcwire.core.errors import EncodeError
from cdcwire.core.options import OptionValue, parse_options
from cdcwire.format import Format
from cdcwire.model import kinds
from cdcwire.model.carries import CarryVerdict, Replaced
from cdcwire.model.events import (
    Event,
    Extra,
    Image,
    Marker,
    Position,
    Progress,
    RowChange,
    SchemaChange,
    Sent,
    Table,
)
from cdcwire.model.kind_text import kind_text
from cdcwire.model.kinds import UNAVAILABLE, Column, Role, Value, index_of_label, mask_of_labels
from cdcwire.model.temporal import temporal_text
from cdcwire.mysql.types import LARGE_STRING_TYPES, code_and_flags
from cdcwire_generators.families import get_family
from cdcwire_generators.feeds import FeedTraits
from cdcwire_generators.positions import POSITION_FIELDS

Options: TypeAlias = Mapping[str, OptionValue]

_FIELD_OF_POSITION = {name: name for name in POSITION_FIELDS if name != "tx_order"}
_NO_VALUES: dict[str, tuple[str | None, ...]] = {
    "row_id": (None, "0"),
    "claim_check": (None, ""),
}
_HANDLE: frozenset[Role] = frozenset({"handle"})


class NotCarriedError(ValueError):
    """Encoding the event is to raise EncodeError. ``what`` names the kind or the event field."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what


def kind_name(kind: kinds.Type, value: Value) -> str:
    """Return the row of ``cdcwire.model.carries.KINDS`` that speaks of a value (not NULL)."""
    if value is UNAVAILABLE:
        return "unavailable"
    match kind:
        case kinds.FloatType():
            return f"float{kind.bits}" if abs(value) < float("inf") else "float not finite"
        case kinds.DecimalType():
            is_odd = not isinstance(value, str) and not value.is_finite()
            return "decimal not finite" if is_odd else "decimal"
        case kinds.TextType():
            return "text ill-formed" if isinstance(value, bytes) else "text"
        case kinds.TimestampType(zone=str()):
            return "timestamp with zone"
        case kinds.DateType(form) | kinds.TimeType(form=form) | kinds.DatetimeType(form=form):
            return _with_form(kind, form)
        case kinds.TimestampType(form=form):
            return _with_form(kind, form)
        case kinds.EnumType() | kinds.SetType():
            return f"{'enum' if isinstance(kind, kinds.EnumType) else 'set'} by {kind.form}"
        case kinds.IntervalType():
            return "interval"
        case kinds.ArrayType():
            return "array"
        case kinds.MapType():
            return "map"
        case kinds.StructType():
            return "struct"
        case kinds.UnknownType():
            return "unknown"
        case _:
            return kind_text(kind).partition("(")[0]


def ordinary_kind_name(kind: kinds.Type) -> str:
    """Return the row of KINDS that the ordinary values of a type are of, NaN and the like aside."""
    samples: dict[type[kinds.Type], Value] = {
        kinds.FloatType: 0.0,
        kinds.DecimalType: Decimal(0),
        kinds.TextType: "",
    }
    return kind_name(kind, samples.get(type(kind), 0))


def _with_form(kind: kinds.Type, form: str) -> str:
    word = kind_text(kind).partition("(")[0]
    return word if form == "text" else f"{word} as count"


def _drop_bad_bytes(column: Column, value: Value) -> Value:
    """Return text with U+FFFD for each bad byte, as JSON has it; base64 keeps the bytes."""
    code, _ = code_and_flags(column, "")
    return value if code in LARGE_STRING_TYPES else _drop_all_bad_bytes(column, value)


def _drop_all_bad_bytes(column: Column, value: Value) -> Value:
    escaped = value.decode("utf-8", "surrogateescape")
    return "".join("\ufffd" if "\udc80" <= char <= "\udcff" else char for char in escaped)


_REPLACED: dict[Replaced | None, Callable[[Column, Value], Value]] = {
    "in CHAR and VARCHAR": _drop_bad_bytes,
    "in all text": _drop_all_bad_bytes,
}


class RoundTrip:
    """The effect of one format on events that it encodes and decodes, under one set of options.

    ``row_extra``, ``event_extra``: the names of ``extra`` that rows and other events carry.
    """

    row_extra: tuple[str, ...] = ()
    event_extra: tuple[str, ...] = ()

    def __init__(self, through: Format, options: Options, feed: FeedTraits) -> None:
        self.format = through
        self.family = get_family("mysql")
        self.feed = feed
        self.progress = feed.progress
        self.options = parse_options(through.options, options)
        self.time_zone = str(self.options.get("time-zone", "")) or None

    def events(self, event: Event) -> list[Event]:
        """Return the events that come back after encoding and decoding one event.

        Raises: NotCarriedError if the format cannot carry it.
        """
        match event:
            case RowChange():
                return list(self._rows(event))
            case SchemaChange():
                self._require("schema change")
                change = self._schema_change(event)
                return [] if change is None else [change]
            case Progress():
                self._require("progress")
                if event.what != self.progress:
                    raise NotCarriedError("progress")
                return [self._progress(event)]
            case Marker():
                self._require("markers")
                if event.what not in self.feed.markers:
                    raise NotCarriedError("markers")
                return [self._marker(event)]

    def _schema_change(self, event: SchemaChange) -> SchemaChange | None:
        return replace(
            event,
            table=named(event.table),
            position=self._position(event.position),
            extra=self._extra(event.extra, is_row=False),
        )

    def _progress(self, event: Progress) -> Progress:
        return replace(
            event,
            position=self._position(event.position),
            extra=self._extra(event.extra, is_row=False),
        )

    def _marker(self, event: Marker) -> Marker:
        return replace(event, position=self._position(event.position))

    def _require(self, name: str) -> None:
        if not self._has(name):
            raise NotCarriedError(name)

    def _has(self, name: str) -> bool:
        return self._holds(self.format.carries.fields[name])

    def _holds(self, verdict: CarryVerdict) -> bool:
        if verdict.verdict == "option":
            name, value = verdict.setting
            found = self.options[name]
            return bool(found) if value is True else found == value
        return verdict.verdict != "no"

    def _position(self, position: Position) -> Position:
        kept = {
            name: getattr(position, name)
            for name, field in _FIELD_OF_POSITION.items()
            if self._has(field)
        }
        return Position(**kept)

    def _extra(self, extra: Extra, *, is_row: bool) -> Extra:
        names = self.row_extra if is_row else self.event_extra
        return {name: extra[name] for name in names if extra.get(name) not in _NO_VALUES[name]}

    def _rows(self, event: RowChange) -> Iterable[Event]:
        self._require("op")
        op = event.op
        extra = self._extra(event.extra, is_row=True)
        sent: Sent | None = None
        after = self._image(event.after, event.table)
        before = self._image(event.before, event.table)
        if op == "update" and not self._has("before of update"):
            op, before = "insert", None
        elif op == "update" and self.options.get("only-output-updated-columns"):
            assert before is not None
            assert after is not None
            before = _changed(before, after)
            op, before, sent = ("update", before, "changed") if before else ("insert", None, None)
        elif op == "delete" and self.options.get("delete-only-output-handle-key-columns"):
            before, sent = self._handle_key_only(before), "key"
        first = after or before
        key = () if first is None else _handle_key(first.columns)
        yield replace(
            event,
            table=Table(event.table.name, event.table.schema, key=key),
            op=op,
            before=before,
            after=after,
            position=self._position(event.position),
            sent=sent,
            extra=extra,
        )

    def _handle_key_only(self, image: Image | None) -> Image:
        key = () if image is None else _handle_key(image.columns)
        if image is None or not key:
            raise NotCarriedError("a delete without handle key")
        return image.only(key)

    def _image(self, image: Image | None, table: Table) -> Image | None:
        if image is None:
            return None
        pairs = [self._pair(column, value, table) for column, value in image.pairs]
        return Image.of(pairs)

    def _pair(self, column: Column, value: Value, table: Table) -> tuple[Column, Value]:
        as_read = self._column(column, table)
        if table.key is not None:
            is_key = column.name in table.key
            roles = as_read.roles | _HANDLE if is_key else as_read.roles - _HANDLE
            as_read = replace(as_read, roles=roles)
        return as_read, self._value(column, value)

    def _column(self, column: Column, table: Table) -> Column:
        """Return a column as it is described when it comes back."""
        try:
            return self.family.as_read(column, "", self.time_zone)
        except EncodeError as error:
            raise NotCarriedError(kind_text(column.type)) from error

    def _value(self, column: Column, value: Value) -> Value:
        if value is None:
            return None
        name = kind_name(column.type, value)
        verdict = self.format.carries.kinds[name]
        if not self._holds(verdict):
            raise NotCarriedError(name)
        if verdict.verdict == "lossy":
            return _REPLACED[verdict.replaced](column, value)
        if verdict.verdict == "exact":
            return value
        return self._converted(column.type, value)

    def _converted(self, kind: kinds.Type, value: Value) -> Value:
        try:
            match kind:
                case kinds.EnumType():
                    return _other_enum_form(kind, value)
                case kinds.SetType():
                    return _other_set_form(kind, value)
                case (
                    kinds.DateType()
                    | kinds.TimeType()
                    | kinds.DatetimeType()
                    | kinds.TimestampType()
                ):
                    return temporal_text(kind, value, self.time_zone)
                case _:
                    return int(value)  # a bool
        except ValueError as error:
            raise NotCarriedError(kind_text(kind)) from error


def _other_enum_form(kind: kinds.EnumType, value: Value) -> Value:
    if kind.form == "label":
        return index_of_label(kind, value)
    if kind.labels is None or not 1 <= value <= len(kind.labels):
        raise ValueError("an index without a label")
    return kind.labels[value - 1]


def _other_set_form(kind: kinds.SetType, value: Value) -> Value:
    if kind.form == "label":
        return mask_of_labels(kind, value)
    labels = kind.labels or ()
    if value >> len(labels):
        raise ValueError("a bit without a label")
    return ",".join(label for bit, label in enumerate(labels) if value >> bit & 1)


def named(table: Table | None) -> Table | None:
    """Return a table with its name and schema only; None if it has neither."""
    if table is None or (not table.name and not table.schema):
        return None
    return Table(table.name or None, table.schema or None)


def _handle_key(columns: tuple[Column, ...]) -> tuple[str, ...]:
    return tuple(column.name for column in columns if "handle" in column.roles)


def _changed(before: Image, after: Image) -> Image | None:
    """Return the old columns that differ from the new ones. Go finds 0.0 and -0.0 equal."""
    new = {column.name: (column.source, value) for column, value in after.pairs}
    pairs = [pair for pair in before.pairs if new.get(pair[0].name) != (pair[0].source, pair[1])]
    return Image.of(pairs) if pairs else None
