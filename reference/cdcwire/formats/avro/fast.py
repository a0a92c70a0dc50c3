"""The fast decoder: Avro messages to typed rows, with the plain decoder as the fallback.

It accepts and rejects exactly what ``decode`` does, by construction: what is not as
usual, damaged or just rare, is given to the plain decoder. Usual are rows and deletes of tables.

Not read in the fast way: DDL and checkpoints, rows without a key or with their old values, records
that do not belong to a table.

One function is generated for each plan of a record, unrolled field by field. The source is built
from field numbers and from the forms of ``plans`` only. Nothing of a message or of a schema becomes
source, and the branch of NULL is one of two literals. ``cdcwire.apache_avro.value_code`` has the
lines that read the values of Avro's types.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any, TypeAlias

from cdcwire.apache_avro.registries import CONFLUENT_BYTES, GLUE_BYTES, read_envelope
from cdcwire.apache_avro.sources import KnownSchemas, SchemaSource, schema_of
from cdcwire.apache_avro.value_code import (
    END,
    GO_ON,
    LAST,
    NAMES,
    SMALL,
    boolean_lines,
    branch_lines,
    float_lines,
    integer_lines,
    length_lines,
    unpack6,
    unpack9,
)
from cdcwire.core.caches import BoundedCache, Credit
from cdcwire.core.compiled import FastDecoder, Irregular, compile_function, indented
from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.limits import UINT64_END
from cdcwire.core.message import KafkaMessage, Message, expect_kafka
from cdcwire.core.reader import Reader
from cdcwire.core.rows import NOTHING_ELSE, Layout, Row, new_row
from cdcwire.formats.avro.definitions import Labels
from cdcwire.formats.avro.events import RowReading, events_of, key_names, table_of
from cdcwire.formats.avro.extension import OPS, is_checksum
from cdcwire.formats.avro.plans import (
    CHECKSUM_FIELD,
    CHECKSUM_VERSION_FIELD,
    COMMIT_TS_FIELD,
    CORRUPTED_FIELD,
    OP_FIELD,
    PHYSICAL_TIME_FIELD,
    FieldPlan,
    Form,
    RecordPlan,
    plan_of_text,
)
from cdcwire.formats.avro.settings import Settings, read_settings
from cdcwire.formats.avro.values import EXACT, decimal_of_bytes, model_value
from cdcwire.formats.avro.wire import read_bytes
from cdcwire.model.events import Event, Extra, RowChange, Table
from cdcwire.model.floats import narrow_float32
from cdcwire.model.kinds import Column
from cdcwire.mysql.values import MAX_DECIMAL_TEXT, PLAIN_DECIMAL

# Limits of what is kept. A field takes some two kilobytes with its code.
_MAX_FIELDS = 1 << 13
_PRICE_OF_A_FIELD = 1 << 8  # bytes that the plain decoder reads while a field's code is made
_ENTRY = 4

_CHECKSUM_FIELDS = (CHECKSUM_FIELD, CORRUPTED_FIELD, CHECKSUM_VERSION_FIELD)
_PLAIN_EXTENSION = (OP_FIELD, COMMIT_TS_FIELD, PHYSICAL_TIME_FIELD)
_CHECKED_EXTENSION = (*_PLAIN_EXTENSION, *_CHECKSUM_FIELDS)


@dataclass(frozen=True, slots=True, eq=False)
class _Route:
    """How the messages of one pair of schemas are read. ``read_value`` None: deletes.

    ``key_head`` and ``value_head``: their envelopes, None for no value.
    """

    key_head: bytes
    value_head: bytes | None
    table: Table
    is_wanted: bool
    layout: Layout
    read_key: RecordFunction
    read_value: RecordFunction | None
    extension: int  # how many fields there are: none, three or six


class RowDecoder(FastDecoder):
    """Decodes Kafka messages. The context has the schemas; what an id means does not change.

    ``settings``: those of the context's options, unless given. ``source``: other schemas.
    """

    def __init__(
        self,
        context: Context = NO_CONTEXT,
        settings: Settings | None = None,
        source: SchemaSource | None = None,
    ) -> None:
        self.source = KnownSchemas(context.schemas) if source is None else source
        self.settings = read_settings(context) if settings is None else settings
        self.selection = context.selection
        self.labels = Labels(context.tables)
        self._head = CONFLUENT_BYTES if self.settings.registry == "confluent" else GLUE_BYTES
        self._reading = RowReading(self.settings, self.labels, self.selection)
        self._routes: BoundedCache[tuple[bytes, bytes | None], _Route] = BoundedCache(_MAX_FIELDS)
        self._last: _Route | None = None
        self._layouts: BoundedCache[tuple[Column, ...], Layout] = BoundedCache(_MAX_FIELDS)
        self._credit = Credit()

    def _usual(self, message: Message) -> list[Row]:
        if not isinstance(message, KafkaMessage):
            raise Irregular
        key, value = message.key, message.value
        if key is None:
            raise Irregular
        head = self._head
        key_head = key[:head]
        value_head = None if value is None else value[:head]
        route = self._last  # most messages have the schemas of the one before
        if route is None or value_head != route.value_head or key_head != route.key_head:
            route = self._last = self._route(key_head, value_head)
        if not route.is_wanted:
            return []
        columns, _ = route.read_key(key, head)
        if value is None:
            deleted = (route.table, "delete", None, None, None, None, route.layout, columns, "key")
            return [new_row(deleted + NOTHING_ELSE)]
        assert route.read_value is not None  # the route has a value
        values, extension = route.read_value(value, head)
        extra: Extra | None = None
        if route.extension == len(_PLAIN_EXTENSION):
            op, commit_ts, commit_ms = extension
        elif route.extension:
            op, commit_ts, commit_ms, checksum, corrupted, version = extension
            extra = {
                "checksum": checksum,
                "corrupted": "true" if corrupted else "false",
                "checksum_version": str(version),
            }
        else:
            op, commit_ts, commit_ms = "upsert", None, None
        if op == "delete":
            raise Irregular  # its value is the old row
        # Written out: joining tuples takes longer.
        row = (
            route.table,
            op,
            commit_ts,
            None,
            route.layout,
            values,
            None,
            None,
            None,
            None,
            commit_ms,
            None,
            None,
            extra,
        )
        return [new_row(row)]

    def _route(self, key_head: bytes, value_head: bytes | None) -> _Route:
        """Return the route of a pair of envelopes. Raises: one of IRREGULARITIES."""
        found = self._routes.get((key_head, value_head))
        return self._learn(key_head, value_head) if found is None else found

    def _learn(self, key_head: bytes, value_head: bytes | None) -> _Route:
        """Return the route of a pair of envelopes, which is remembered."""
        key_plan = self._plan(key_head)
        value_plan = None if value_head is None else self._plan(value_head)
        row_plan = key_plan if value_plan is None else value_plan
        names = tuple(row_plan.extension)
        if names not in ((), _PLAIN_EXTENSION, _CHECKED_EXTENSION):
            raise Irregular
        table = table_of(row_plan, key_names(key_plan))
        size = len(key_plan.fields) + (0 if value_plan is None else len(value_plan.fields))
        if not self._credit.spend(size * _PRICE_OF_A_FIELD):
            raise Irregular
        wanted = self._reading.wanted(row_plan)
        columns = self._reading.columns(row_plan, wanted, table)
        function = partial(make_record_function, unsigned_wrap=self.settings.unsigned_wrap)
        route = _Route(
            key_head,
            value_head,
            table,
            # Key and value are of one table, unless someone mixes them: then both are read.
            self._wants(key_plan) if value_plan is None else self._wants_both(key_plan, value_plan),
            self._layout(columns),
            function(key_plan, wanted if value_plan is None else ()),
            None if value_plan is None else function(value_plan, wanted),
            len(names) if value_plan is not None else 0,
        )
        self._routes.keep((key_head, value_head), route, size + _ENTRY)
        return route

    def _plan(self, head: bytes) -> RecordPlan:
        try:
            schema_id = read_envelope(Reader(head), self.settings.registry)
            text = self.source.get(schema_id)
            if text is None:
                raise Irregular
            return plan_of_text(text)
        except DecodeError:
            raise Irregular from None

    def _wants(self, plan: RecordPlan) -> bool:
        table = table_of(plan, ())
        return self.selection.wants(table.schema, plan.record.name)

    def _wants_both(self, key_plan: RecordPlan, value_plan: RecordPlan) -> bool:
        wants = self._wants(value_plan)
        if wants != self._wants(key_plan):
            raise Irregular
        return wants

    def _layout(self, columns: tuple[Column, ...]) -> Layout:
        layout = self._layouts.get(columns)
        if layout is None:
            layout = Layout(columns)
            self._layouts.keep(columns, layout, len(columns) + 1)
        return layout

    def _plain(self, message: Message) -> list[Row | Event]:
        if schema_of(message) is not None:
            return []
        kafka = expect_kafka(message, "avro: messages")
        key, value = kafka.key, kafka.value
        self._credit.earn(len(key or b"") + len(value or b""))
        found = read_bytes(key, value, self.source, self.settings, self.selection)
        events = events_of(found, self.settings, self.labels, self.selection)
        return [self._plain_row(event) for event in events]

    def _plain_row(self, event: Event) -> Row | Event:
        if not isinstance(event, RowChange) or (event.before and event.after):
            return event
        image = event.after or event.before
        assert image is not None  # a row has one of them
        layout = self._layout(image.columns)
        is_new = event.after is not None
        position = event.position
        return Row(
            event.table,
            event.op,
            position.commit_ts,
            None,
            layout if is_new else None,
            image.values if is_new else None,
            None if is_new else layout,
            None if is_new else image.values,
            event.sent,
            commit_ms=position.commit_ms,
            extra=event.extra or None,
        )


RecordFunction: TypeAlias = "Callable[[bytes, int], tuple[tuple[Any, ...], tuple[Any, ...]]]"
"""Takes bytes and where the record begins; returns columns and fields of the extension."""

MAX_FIELDS = 512  # of a generated function; beyond that the plain decoder reads
_MAX_USUAL_DECIMAL = 32  # bytes; DECIMAL(65) has 27

_OPS_OF_LETTERS = {ord(letter): op for letter, op in OPS.items() if letter}

_SMALL_UNSIGNED = tuple(value if value >= 0 else value + UINT64_END for value in SMALL)

_INTEGERS = {
    Form.INT: 32,
    Form.UINT32_INT: 32,
    Form.LONG: 64,
    Form.UINT32_LONG: 64,
    Form.INT32_LONG: 64,
    Form.UINT64_LONG: 64,
}
_TEXTS = frozenset({Form.TEXT, Form.STRING, Form.UINT64_TEXT, Form.DECIMAL_TEXT, Form.VECTOR})


def _converter(plan: FieldPlan) -> Callable[[Any], Any]:
    return lambda datum: model_value(plan, datum)


def make_record_function(
    plan: RecordPlan, wanted: tuple[int, ...], unsigned_wrap: bool
) -> RecordFunction:
    """Return the function of a plan; ``wanted``: the places of the columns that it returns.

    Raises: Irregular for records that only the plain decoder reads.
    """
    odd = (Form.OTHER, Form.BEFORE)
    if len(plan.fields) > MAX_FIELDS or any(field.form in odd for field in plan.fields):
        raise Irregular
    names: dict[str, Any] = {
        **NAMES,
        "SMALL_UNSIGNED": _SMALL_UNSIGNED if unsigned_wrap else SMALL,
        "OPS": OPS,
        "OPS_OF_LETTERS": _OPS_OF_LETTERS,
        "is_checksum": is_checksum,
        "unpack6": unpack6,
        "unpack9": unpack9,
        "GO_ON": GO_ON,
        "LAST": LAST,
        "narrow": narrow_float32,
        "decimal_of_bytes": decimal_of_bytes,
        "scaled": EXACT.scaleb,
        "Decimal": Decimal,
        "is_decimal": PLAIN_DECIMAL.fullmatch,
    }
    lines: list[str] = []
    for index, field in enumerate(plan.fields):
        if field.form is Form.DECIMAL_BYTES:
            names[f"scale{index}"] = field.scale
            names[f"exponent{index}"] = -field.scale
        elif field.form in (Form.UINT64_TEXT, Form.VECTOR):
            names[f"convert{index}"] = _converter(field)
        lines += _field_lines(index, field, unsigned_wrap)
    columns = "".join(f"v{index}," for index in wanted)
    extension = "".join(f"v{index}," for index in plan.extension.values())
    lines += [END, f"return ({columns}), ({extension})"]
    return compile_function("read_record", "data, position", lines, names)


def _field_lines(index: int, field: FieldPlan, unsigned_wrap: bool) -> list[str]:
    if field.is_extension and field.name in _TIMES:
        return _time_lines(index, field)
    if field.is_extension and field.name == OP_FIELD:
        return _op_lines(index, field)
    if field.null_index is None:
        return [*_value_lines(index, field, unsigned_wrap, 0), *_extension_lines(index, field)]
    lines = _value_lines(index, field, unsigned_wrap, 1)
    return branch_lines(f"v{index}", field.null_index, lines)


# Every TSO from 1975 to 2526 has 9 bytes, and its milliseconds until 2039 have 6. The lowest bit is
# the sign. Numbers of up to 30 bits are put together first, as longer ones take more time.
_TIMES = {
    COMMIT_TS_FIELD: (
        "a, b, c, d, e = unpack9(data, position)",
        "GO_ON[a] >> 1 | GO_ON[b] << 13 | (GO_ON[c] | GO_ON[d] << 14 | e << 28) << 27",
        9,
    ),
    PHYSICAL_TIME_FIELD: (
        "a, b, c = unpack6(data, position)",
        "(GO_ON[a] >> 1 | GO_ON[b] << 13) | LAST[c] << 27",
        6,
    ),
}


def _time_lines(index: int, field: FieldPlan) -> list[str]:
    """Read a timestamp of its usual size, which no other number of these bytes has.

    Negative ones are left to the plain decoder.
    """
    unpack, value, size = _TIMES[field.name]
    last = f"data[position + {size - 1}]"
    return [
        f"if data[position] & 129 != 128 or {last} > 127: raise Irregular",
        unpack,
        f"v{index} = {value}",
        f"position += {size}",
    ]


def _op_lines(index: int, field: FieldPlan) -> list[str]:
    """Read the operation, which is one letter or, seldom, another text."""
    return [
        "if data[position] == 2:",
        f" v{index} = OPS_OF_LETTERS[data[position + 1]]",
        " position += 2",
        "else:",
        *indented([*_value_lines(index, field, False, 0), f"v{index} = OPS[v{index}]"]),
    ]


def _extension_lines(index: int, field: FieldPlan) -> list[str]:
    if not field.is_extension:
        return []
    if field.name == CHECKSUM_FIELD:
        return [f"if v{index} and not is_checksum(v{index}): raise Irregular"]
    return []


def _value_lines(index: int, field: FieldPlan, unsigned_wrap: bool, skip: int) -> list[str]:
    """Read one value into v<index>; ``skip`` bytes at the position were read before."""
    form, value = field.form, f"v{index}"
    if form in _INTEGERS:
        return _integer_lines(form, value, unsigned_wrap, skip)
    match form:
        case Form.FLOAT | Form.DOUBLE:
            return float_lines(value, 32 if form is Form.FLOAT else 64, skip)
        case Form.FLOAT_DOUBLE:
            return [*float_lines(value, 64, skip), f"{value} = narrow({value})"]
        case Form.BOOLEAN:
            return boolean_lines(value, skip)
        case _:
            pass
    lines = length_lines(skip)
    cut = "data[position:end]"
    if form in _TEXTS:
        cut += ".decode()"
    if form is Form.DECIMAL_BYTES:
        number = f"from_bytes({cut}, 'big', signed=True)"
        lines += [
            f"if 0 < end - position <= {_MAX_USUAL_DECIMAL}:",
            f" {value} = scaled({number}, exponent{index})",
            f"else: {value} = decimal_of_bytes({cut}, scale{index})",
            "position = end",
        ]
        return lines
    if form is Form.DECIMAL_TEXT:
        lines += [f"text = {cut}"]
        lines += [f"if len(text) > {MAX_DECIMAL_TEXT} or not is_decimal(text): raise Irregular"]
        cut = "Decimal(text)"
    elif form is Form.BIT:
        lines.append("if not 1 <= end - position <= 8: raise Irregular")
        cut = f"from_bytes({cut}, 'big')"
    elif form in (Form.UINT64_TEXT, Form.VECTOR):
        cut = f"convert{index}({cut})"
    return [*lines, f"{value} = {cut}", "position = end"]


def _integer_lines(form: Form, value: str, unsigned_wrap: bool, skip: int) -> list[str]:
    is_wrapped = form is Form.UINT64_LONG and unsigned_wrap
    small = "SMALL_UNSIGNED" if is_wrapped else "SMALL"
    lines = integer_lines(value, _INTEGERS[form], skip, small)
    if is_wrapped:
        lines.append(f"if {value} < 0: {value} += {UINT64_END}")
    elif form in (Form.UINT32_INT, Form.UINT32_LONG):
        lines.append(f"if not 0 <= {value} <= 4294967295: raise Irregular")
    elif form is Form.INT32_LONG:
        lines.append(f"if not -2147483648 <= {value} <= 2147483647: raise Irregular")
    return lines
