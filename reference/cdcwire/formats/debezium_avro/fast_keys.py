"""Kafka keys at speed: one generated function for each schema.

A key names columns and has their values. The plain reader reads each key that is not plainly
regular, and says where and why.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TypeAlias

from cdcwire.apache_avro.sources import KnownSchemas
from cdcwire.connect import Parsed
from cdcwire.connect.keys import image_of_key
from cdcwire.connect.logical import columns_of, model_converter
from cdcwire.connect.style import as_it_is
from cdcwire.core.caches import BoundedCache, Credit
from cdcwire.core.comparing import KeyContent
from cdcwire.core.compiled import IRREGULARITIES, compile_function
from cdcwire.core.context import Context
from cdcwire.core.message import KafkaMessage
from cdcwire.core.reader import Reader
from cdcwire.debezium.names import original_image
from cdcwire.debezium.plans import KeyFacts
from cdcwire.formats.debezium_avro.connect_schema import DatumPlan
from cdcwire.formats.debezium_avro.datum_code import DatumCode
from cdcwire.formats.debezium_avro.framing import HEAD_BYTES
from cdcwire.formats.debezium_avro.message import Datum
from cdcwire.formats.debezium_avro.settings import read_settings
from cdcwire.formats.debezium_avro.wire import read_part
from cdcwire.model.events import Image

_MAX_FIELDS = 1 << 12  # of all functions
_PRICE_OF_A_FIELD = 1 << 8  # bytes that the plain reader reads while a field's code is made
_ENTRY = 4

ReadKey: TypeAlias = "Callable[[bytes, int], str | None]"
ReadColumns: TypeAlias = Callable[[bytes, int], Image]


def key_function(plan: DatumPlan, router: str) -> tuple[KeyFacts, ReadKey]:
    """Return what a key's schema says, and what reads the physical table in the key.

    ``router``: the field that ByLogicalTableRouter adds. Raises: Irregular.
    """
    code = DatumCode(plan.kind)
    part = code.payload(plan.schema)
    physical_table = "None"
    names = []
    for field, value in zip(plan.schema.fields, part.columns, strict=True):
        if field.name != router:
            names.append(field.name)
        elif field.schema.type == "string":
            physical_table = value.name
    may_be_null = any(field.schema.optional for field in plan.schema.fields)
    lines = [*part.lines, f"return {physical_table}"]
    read = compile_function("read_key", "data, position", lines, code.names)
    return KeyFacts(tuple(names), True, may_be_null), read


class KeyColumns:
    """Reads the columns of the keys of a feed. Its memory is bounded, whatever the keys hold."""

    def __init__(self, context: Context) -> None:
        self.settings = read_settings(context)
        self.schemas = KnownSchemas(context.schemas)
        self._head = HEAD_BYTES[self.settings.framing]
        self._known: BoundedCache[bytes, ReadColumns | None] = BoundedCache(_MAX_FIELDS)
        self._credit = Credit()

    def content(self, message: KafkaMessage) -> KeyContent | None:
        """Return the columns of a key; None if it names none. Raises: DecodeError."""
        if message.key is None:
            return None
        read = self._known.get(message.key[: self._head])
        if read is not None:
            with suppress(*IRREGULARITIES):
                return KeyContent(read(message.key, self._head))
        return self._plain(message.key, message)

    def _plain(self, key: bytes, message: KafkaMessage) -> KeyContent | None:
        headers, settings = dict(message.headers), self.settings
        parsed: Parsed = read_part(Reader(key), "key", self.schemas, settings, headers)
        columns = image_of_key(parsed)
        router = settings.key_field_name
        if columns is not None and router in columns.names:
            columns = columns.only(frozenset(columns.names) - {router})
        self._learn(key, parsed)
        if columns is None:
            return None
        return KeyContent(original_image(columns, settings.field_names))

    def _learn(self, key: bytes, parsed: Parsed) -> None:
        """Make the function of a good key's schema, if that pays."""
        head, datum = key[: self._head], parsed.envelope
        self._credit.earn(len(key))
        if not head or head in self._known or not isinstance(datum, Datum) or datum.plan is None:
            return
        if self.settings.field_names != "none":
            return
        size = len(datum.plan.schema.fields) + _ENTRY
        if not self._credit.spend(size * _PRICE_OF_A_FIELD):
            return
        read = None
        with suppress(*IRREGULARITIES):  # the schema is kept without a function
            read = columns_function(datum.plan, self.settings.key_field_name)
        self._known.keep(head, read, size)


def columns_function(plan: DatumPlan, router: str) -> ReadColumns:
    """Return what reads the columns of keys, without the router's field. Raises: Irregular."""
    code = DatumCode(plan.kind)
    part = code.payload(plan.schema)
    lines, values = [*part.lines], []
    fields = zip(columns_of(plan.schema), plan.schema.fields, part.columns, strict=True)
    kept = [each for each in fields if each[1].name != router]
    for _, field, value in kept:
        convert = model_converter(field.schema, "")
        values.append(f"{value.name}, ")
        if convert is not as_it_is:
            code.names[f"convert_{value.name}"] = convert
            lines.append(
                f"if {value.name} is not None: {value.name} = convert_{value.name}({value.name})"
            )
    code.names |= {"Image": Image, "columns": tuple(column for column, _, _ in kept)}
    lines.append(f"return Image(columns, ({''.join(values)}))")
    read: ReadColumns = compile_function("read_key", "data, position", lines, code.names)
    return read
