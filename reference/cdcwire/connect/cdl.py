"""Both versions of CDL's messages: detecting the version, and parts that translations share.

A translation gives its losses as data: nothing is dropped in silence. The rows keep their columns;
only dates and times change their form.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from cdcwire.connect import ConnectValue, Envelope, Field, Schema
from cdcwire.connect.bounds import ConversionError
from cdcwire.connect.fields import Origin
from cdcwire.connect.logical import image_of
from cdcwire.connect.types import ENUM
from cdcwire.core.errors import DecodeError, step
from cdcwire.model.events import Image
from cdcwire.model.slotted import slotted

VERSION_1 = "1.0"
VERSION_2 = "2.0"
ROW_CHANGE = "0"  # the only message_type that was seen
HEARTBEAT_TABLE = ("cdc_cdl", "cdc_heartbeat")
STRING = Schema("string")
OPTIONAL_STRING = Schema("string", True)
INT64 = Schema("int64")
OPTIONAL_INT64 = Schema("int64", True)
SOURCE = Schema(
    "struct",
    name="io.debezium.connector.postgresql.Source",
    fields=(
        *(Field(name, STRING) for name in ("version", "connector", "name")),
        Field("ts_ms", INT64),
        Field(
            "snapshot",
            Schema("string", True, ENUM, 1, None, (("allowed", "true,last,false"),), "false"),
        ),
        *(Field(name, STRING) for name in ("db", "schema", "table")),
        *(Field(name, OPTIONAL_INT64) for name in ("txId", "lsn")),
    ),
)

Convert: TypeAlias = Callable[[ConnectValue], ConnectValue]
Member: TypeAlias = tuple[str, Schema, ConnectValue]


@slotted(frozen=True, slots=True)
class Row:
    """A row as it travels: the struct of its columns, and their values; None if there is no row.

    ``origin`` is the payload that it was read from.
    """

    schema: Schema
    values: tuple[ConnectValue, ...] | None
    origin: Origin | None = field(default=None, compare=False, repr=False)

    def image(self, name: str, placeholder: str, only: frozenset[str] | None) -> Image | None:
        """Return the image of the row, which is the payload's member ``name``.

        ``placeholder`` and ``only`` as in ``image_of``. Raises: DecodeError, for a value that its
        logical type does not have.
        """
        if self.values is None:
            return None
        try:
            return image_of(self.schema, self.values, placeholder, only)
        except ConversionError as error:
            path = (name, *error.path)
            if self.origin is None:
                raise DecodeError(error.problem, 0, error.clause, path) from error
            raise self.origin.error(error.problem, error.clause, path) from error


@dataclass(frozen=True, slots=True)
class Loss:
    """One member that does not come through.

    lost: it has no place on the other side. invented: it was put in. cut: a part of it is lost.
    """

    what: Literal["lost", "invented", "cut"]
    member: str
    value: str


@dataclass(frozen=True, slots=True)
class Mapped:
    """The translated message and what did not come through."""

    envelope: Envelope
    losses: tuple[Loss, ...]


def version_of(envelope: Envelope) -> Literal["1.0", "2.0"] | None:
    """Return the message_version of a message of CDL's, as far as its members show it.

    Where the payload does not say it, DATA_STORE means 1.0 and source 2.0. None: neither.
    """
    schema = envelope.schema
    if schema is None or schema.type != "struct" or not isinstance(envelope.payload, tuple):
        return None
    place = schema.index("message_version")
    version = None if place is None else envelope.payload[place]
    if version in (VERSION_1, VERSION_2):
        return "1.0" if version == VERSION_1 else "2.0"
    if version is not None:
        return None
    if schema.field("DATA_STORE") is not None:
        return "1.0"
    return "2.0" if schema.field("source") is not None else None


def translated_envelope(old: Envelope, members: list[Member]) -> Envelope:
    """Return an envelope with these members, and the rest as in ``old``."""
    name = None if old.schema is None else old.schema.name
    fields = tuple(Field(member, schema) for member, schema, _ in members)
    schema = Schema("struct", name=name, fields=fields)
    return Envelope(schema, tuple(value for _, _, value in members), old.wrapped)


def translated_row(
    member: str,
    schema: Schema,
    values: tuple[ConnectValue, ...] | None,
    convert: Callable[[Schema], tuple[Schema, Convert | None]],
) -> tuple[Schema, tuple[ConnectValue, ...] | None]:
    """Return schema and values of a row; ``convert`` gives a column's new schema and value."""
    plans = [(field.name, *convert(field.schema)) for field in schema.fields]
    fields = tuple(Field(name, new) for name, new, _ in plans)
    new_schema = replace(schema, fields=fields)
    if values is None:
        return new_schema, None
    row = []
    for (name, _, change), value in zip(plans, values, strict=True):
        with step(member, name):
            row.append(value if value is None or change is None else change(value))
    return new_schema, tuple(row)
