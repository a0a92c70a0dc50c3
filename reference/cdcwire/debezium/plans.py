"""Plans of changes: what a schema, a connector and a key decide of an event, decided once.

A plan is one generated function. It makes the event of a payload by the same rules as ``reading``
and ``events``. For all others it raises one of IRREGULARITIES, and the plain decoder reads them.
Texts of ``source`` mostly come again: what follows from them alone, such as the table, is kept.

A ``PartWriter`` writes the lines that read the values of a payload: of its JSON, or of its binary
form.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeAlias

from cdcwire.connect import Envelope, Parsed
from cdcwire.connect.cdl import ROW_CHANGE, VERSION_2
from cdcwire.connect.fields import Origin, definition_of
from cdcwire.connect.image_code import ImageCode
from cdcwire.connect.payload_patterns import Part, PayloadWriter, RowCode
from cdcwire.connect.schema import INT_BITS, ConnectValue, Schema
from cdcwire.core.caches import Memo
from cdcwire.core.compiled import Irregular, indented
from cdcwire.core.context import Selection
from cdcwire.debezium.connectors import source_of
from cdcwire.debezium.events import OPS, Extra, source_extra
from cdcwire.debezium.message import Source
from cdcwire.debezium.notes import notes_of
from cdcwire.debezium.reading import CDL_CONNECTORS, USUAL_SNAPSHOTS
from cdcwire.debezium.settings import Settings
from cdcwire.debezium.shapes import other_schema_name
from cdcwire.debezium.source import places_of, table_named, warnings_of
from cdcwire.debezium.unwrapped import is_sent_whole
from cdcwire.model.events import POSITION_MEMBERS, Image, Position, RowChange, Sent, Table

_MAX_KNOWN = 256  # texts of sources
_TEXTS = ("version", "connector", "name", "snapshot", "db", "schema", "keyspace", "table")
_NAMES = ("connector", "db", "schema", "keyspace", "table")
_REQUIRED = ("version", "connector", "name", "db", "table")
_NOWHERE = Origin("value", Parsed(Envelope(None, None), None, 0, 0))
_BLOCK = ("id", "total_order", "data_collection_order")
_TYPES: Mapping[str, type] = {
    **dict.fromkeys(INT_BITS, int),
    "string": str,
    "boolean": bool,
    "float": float,
    "double": float,
}


class KeyFacts(NamedTuple):
    """The facts that a Kafka key shows of its table.

    ``names``: of the columns; None if it does not say them. ``is_known``: the message has a key, or
    says that it has none. ``may_be_null``: a column of it is nullable.
    """

    names: tuple[str, ...] | None
    is_known: bool = True
    may_be_null: bool = False


@dataclass(frozen=True, slots=True)
class Feed:
    """The options and definitions that all plans of a feed share."""

    settings: Settings
    selection: Selection
    tables: tuple[Table, ...]


MakeCode: TypeAlias = "Callable[[dict[str, Any], str], ImageCode]"
Cut: TypeAlias = "Callable[[Image], tuple[Image, Sent | None]]"
Known: TypeAlias = "tuple[Table | None, Extra, str | None, Cut | None]"
Texts: TypeAlias = "tuple[str | None, ...]"
Make: TypeAlias = Callable[["tuple[str | None, ...]", "str | None"], "RowChange | None"]


@dataclass(frozen=True, slots=True, eq=False)
class ChangePlan:
    """Reads the payloads of one schema as events.

    ``make``: of the groups of a match and the physical table in the key; None for the rows of a
    table that is not wanted. ``may_say_connector``: not only the source may have such a member.
    """

    match: Callable[[str], re.Match[str] | None]
    make: Make
    may_say_connector: bool


def change_plan(
    schema: Schema,
    usual: ConnectValue,
    key: KeyFacts,
    feed: Feed,
    code: MakeCode | None = None,
) -> ChangePlan:
    """Return the plan of the JSON payloads of a schema; the parameters are as in ``change_lines``.

    Raises: one of IRREGULARITIES, for what has no plan.
    """
    writer = PayloadWriter()
    part, lines = change_lines(writer, Payloads(schema, usual), key, feed, code)
    pattern, make = writer.function(part, lines, "groups, physical_table")
    return ChangePlan(pattern.fullmatch, make, _connectors(schema) > 1)


class PartWriter(Protocol):
    """Writes the lines that read the values of a payload; ``names`` are those that they use.

    ``rows``: makes images of rows. The other structs of a payload are not made.
    """

    names: dict[str, Any]
    rows: RowCode | None

    def payload(self, schema: Schema, usual: ConnectValue = None) -> Part:
        """Return the part of a payload. Raises: Irregular, for a schema without a plan."""
        ...


class Payloads(NamedTuple):
    """The schema of some payloads, and a usual one of them, whose connector all have.

    ``is_typed``: the schema has the types that the connector leaves open, and all else that is
    read; it holds for the table of ``usual`` alone.
    """

    schema: Schema
    usual: ConnectValue
    is_typed: bool = False


def change_lines(
    writer: PartWriter,
    payloads: Payloads,
    key: KeyFacts,
    feed: Feed,
    code: MakeCode | None = None,
) -> tuple[Part, list[str]]:
    """Return the part of a payload, and the lines of the function that makes its event.

    The function has a parameter ``physical_table``: the one in the key. ``code``: writes the code
    of images, given the names of the function and the placeholder of unavailable values. Then the
    schema holds for the table of the usual payload alone.
    Raises: one of IRREGULARITIES, for what has no plan.
    """
    schema, usual, is_typed = payloads
    connector = _member(schema, usual, "source", "connector")
    if not isinstance(connector, str) or not connector or connector == "mongodb":
        raise Irregular
    declared = source_of(connector)
    if declared.has_undeclared and not is_typed:
        raise Irregular  # the schema does not have all that is read
    placeholder = feed.settings.placeholder if declared.has_placeholder else ""
    is_shared = code is None and not is_typed
    writer.rows = (code or partial(ImageCode, schema))(writer.names, placeholder)
    part = writer.payload(schema, usual)
    table = None if is_shared else tuple(_member(schema, usual, "source", name) for name in _NAMES)
    lines = _Lines(schema, part, connector, key, feed)
    lines.table = table
    writer.names.update(lines.names)
    return part, [*part.lines, *lines.all()]


def _connectors(schema: Schema) -> int:
    """Return how many members may have the name of that of ``source``; a map may have many."""
    if schema.type == "map":
        return 2
    inner = [*(each.schema for each in schema.fields), *([schema.items] if schema.items else [])]
    named = sum(each.name == "connector" for each in schema.fields)
    return named + sum(map(_connectors, inner))


def _member(schema: Schema, value: ConnectValue, *path: str) -> ConnectValue:
    for name in path:
        place = schema.index(name)
        if place is None or not isinstance(value, tuple):
            return None
        schema, value = schema.fields[place].schema, value[place]
    return value


class _Struct:
    """The members of a struct: the names of their values in the function, and their schemas."""

    def __init__(self, schema: Schema, part: Part) -> None:
        self.schema = schema
        self.name = part.name
        self.parts = {f.name: p for f, p in zip(schema.fields, part.columns, strict=True)}

    def value(self, name: str, types: Collection[str]) -> tuple[str, list[str]]:
        """Return the expression of a member, and the lines that refuse a value of other types."""
        part, schema = self.parts.get(name), self.schema.field(name)
        if part is None or schema is None:
            return "None", []
        if schema.type in types:
            return part.name, []
        return "None", [f"if {part.name} is not None: raise Irregular"]

    def required(self, name: str, types: Collection[str]) -> tuple[str, list[str]]:
        """Return the same for a member that is not NULL. Raises: Irregular if it is missing."""
        found, lines = self.value(name, types)
        if found == "None":
            raise Irregular
        schema = self.schema.field(name)
        is_optional = schema is not None and schema.optional
        return found, [*lines, *([f"if {found} is None: raise Irregular"] if is_optional else [])]

    def struct(self, name: str) -> _Struct | None:
        """Return a member that is a struct; None if it is missing or of another type."""
        part, schema = self.parts.get(name), self.schema.field(name)
        if part is None or schema is None or schema.type != "struct":
            return None
        return _Struct(schema, part)


class _Lines:
    """Writes the lines that make the event; ``names`` are those that they use."""

    def __init__(
        self, schema: Schema, part: Part, connector: str, key: KeyFacts, feed: Feed
    ) -> None:
        self.payload = _Struct(schema, part)
        self.connector = connector
        self.declared = source_of(connector)
        self.key = key
        self.feed = feed
        self.is_strict = feed.settings.lint == "strict"
        self.is_cdl = "message_version" in self.payload.parts
        self.table: tuple[ConnectValue, ...] | None = None
        """The names in ``source`` that all payloads have; None if they may differ."""
        ops = dict(OPS)
        if feed.settings.read_r_as_c:
            ops["r"] = "insert"
        elif self.is_cdl:
            del ops["r"]
        self.names: dict[str, Any] = {
            "ops": ops,
            "known": Memo(self._known, _MAX_KNOWN),
            "Position": Position,
            "RowChange": RowChange,
            "str": str,
            "columns": feed.selection.columns,
        }

    def all(self) -> list[str]:
        """Return all lines after those of the values. Raises: Irregular."""
        source = self.payload.struct("source")
        if source is None:
            raise Irregular
        self.key = self._key_of_row(self.key)
        place, lines_of_source, extra = self._source(source)
        op, lines_of_op = self.payload.required("op", ("string",))
        sent_ms, lines_of_ms = self.payload.value("ts_ms", INT_BITS)
        if self.is_cdl:
            sent_ms, lines_of_ms = self.payload.required("ts_ms", INT_BITS)
        place["sent_ms"] = sent_ms
        lines_of_block, more = self._block()
        if more:
            place["tx_order"] = "tx_order"
        last = max((POSITION_MEMBERS.index(name) for name in place), default=-1)
        position = ", ".join(place.get(name, "None") for name in POSITION_MEMBERS[: last + 1])
        return [
            *lines_of_op,
            f"op = ops.get({op})",
            "if op is None: raise Irregular",
            *lines_of_ms,
            *lines_of_source,
            *self._rows(),
            "extra = base.copy()",
            *extra,
            *lines_of_block,
            *self._notes(),
            "if physical_table is not None: extra['physical_table'] = physical_table",
            "if schema_name is not None: extra['schema_name'] = schema_name",
            *self._moments(),
            *self._cdl(),
            "if table is None: return None",
            f"position = Position({position})",
            "return RowChange(table, op, before, after, position, None, sent, extra)",
        ]

    def _source(self, source: _Struct) -> tuple[dict[str, str], list[str], list[str]]:
        """Return the position, the lines that check the source, and those of ``extra``."""
        lines = [f"if {source.name} is None: raise Irregular"] if source.schema.optional else []
        ms, checks = source.required("ts_ms", INT_BITS)
        texts = []
        for name in _TEXTS:
            found, more = source.value(name, ("string",))
            checks += more
            texts.append(found)
        shown = "".join(f"{text}, " for text in texts)
        lines += [*checks, f"table, base, schema_name, cut = known[({shown})]"]
        place: dict[str, str] = {}
        extra = []
        for each in places_of(source.schema, self.connector):
            kind = _TYPES.get(source.schema.fields[each.at].schema.type, object)
            value = source.parts[each.name].name
            if kind not in each.types:
                if each.is_declared:
                    lines.append(f"if {value} is not None: raise Irregular")
                continue
            text = value if kind is str else f"str({value})"
            if not each.in_position:
                extra.append(f"if {value} is not None: extra[{each.place!r}] = {text}")
            elif each.place in place:
                raise Irregular
            elif each.is_text and kind is not str:
                extra.append(f"if {value} is not None: {value} = {text}")
                place[each.place] = value
            elif each.is_text or kind is int:
                place[each.place] = value
        place["commit_ms"] = ms
        return place, lines, extra

    def _rows(self) -> list[str]:
        lines = []
        for name in ("before", "after"):
            found, checks = self.payload.value(name, ("struct",))
            lines += [*checks, f"{name} = {found}"]
        restrict = self.feed.selection.columns is not None
        only = "if {0} is not None: {0} = {0}.only(columns)"
        return [
            *lines,
            "sent = None",
            "if op == 'delete':",
            " if before is None or after is not None: raise Irregular",
            " if cut is not None: before, sent = cut(before)",
            *([" else: before = before.only(columns)"] if restrict else []),
            "else:",
            " if after is None or (before is not None and op != 'update'): raise Irregular",
            *([f" {only.format('before')}", " after = after.only(columns)"] if restrict else []),
        ]

    def _block(self) -> tuple[list[str], bool]:
        """Return the lines of the place in a transaction, and whether there may be one."""
        block = self.payload.struct("transaction")
        if block is None:
            return self.payload.value("transaction", ())[1], False
        types = (("string",), INT_BITS, INT_BITS)
        found = [block.required(*each) for each in zip(_BLOCK, types, strict=True)]
        (name, _), (total, _), (order, _) = found
        lines = [
            *(line for _, checks in found for line in checks),
            f"tx_order = {total}",
            f"extra['transaction_id'] = {name}",
            f"extra['data_collection_order'] = str({order})",
        ]
        if not block.schema.optional:
            return lines, True
        return ["tx_order = None", f"if {block.name} is not None:", *indented(lines)], True

    def _notes(self) -> list[str]:
        row = self.payload.struct("after")
        notes = None if row is None else notes_of(row.schema)
        lines = [] if notes is None else [f"extra['column_notes'] = {notes!r}"]
        return [*lines, *(["extra['nullable_key'] = 'true'"] if self.key.may_be_null else [])]

    def _moments(self) -> list[str]:
        lines = []
        for name in ("ts_us", "ts_ns"):
            found, checks = self.payload.value(name, INT_BITS)
            lines += checks
            if found != "None":
                lines.append(f"if {found} is not None: extra[{name!r}] = str({found})")
        return lines

    def _cdl(self) -> list[str]:
        """Return the lines of CDL's members."""
        if not self.is_cdl:
            return []
        version, lines = self.payload.required("message_version", ("string",))
        kind, checks = self.payload.required("message_type", ("string",))
        lines += [
            f"if {version} != {VERSION_2!r}: raise Irregular",
            *checks,
            f"if {kind} != {ROW_CHANGE!r}:",
            " raise Irregular" if self.is_strict else f" extra['message_type'] = {kind}",
        ]
        for name, member in (
            ("lob_columns", "LOB_COLUMNS"),
            ("heartbeat_identifier", "HEARTBEAT_IDENTIFIER"),
        ):
            found, checks = self.payload.value(member, ("string",))
            lines += checks
            if found != "None":
                lines.append(f"if {found} is not None: extra[{name!r}] = {found}")
        if self.is_strict and self.connector not in CDL_CONNECTORS:
            raise Irregular
        return [*lines, *self.payload.value("unique", ("struct",))[1]]

    def _key_of_row(self, key: KeyFacts) -> KeyFacts:
        """Return what is known of the key. Raises: Irregular, for a warning that is an error."""
        if self.is_cdl:
            unique = self.payload.struct("unique")
            names = () if unique is None else tuple(unique.parts)
            key = KeyFacts(names, key.is_known, key.may_be_null)
        if self.is_strict:
            before, after = self.payload.struct("before"), self.payload.struct("after")
            columns = (before and before.parts) or (after and after.parts) or {}
            if key.names is None or (columns and not columns.keys() >= set(key.names)):
                raise Irregular
        return key

    def _known(self, texts: Texts) -> Known:
        """Return what the texts of a source decide. Raises: Irregular, for texts without plan."""
        found = dict(zip(_TEXTS, texts, strict=True))
        if self.table is not None and self.table != tuple(found[name] for name in _NAMES):
            raise Irregular
        version, connector, name, db, table = (found[each] for each in _REQUIRED)
        if version is None or connector != self.connector or name is None:
            raise Irregular
        if db is None or table is None:
            raise Irregular
        is_by_keyspace = self.declared.schema_member == "keyspace"
        schema = found["keyspace" if is_by_keyspace else "schema"]
        if is_by_keyspace and schema is None:
            raise Irregular
        source = Source(
            version, self.connector, name, None, found["snapshot"], db, schema or "", table, {}, {}
        )
        if self.is_strict and (warnings_of(source) or source.snapshot not in USUAL_SNAPSHOTS):
            raise Irregular
        names = self.key.names
        if names is None:
            named = table_named(source)
            definition, _ = definition_of(self.feed.tables, named.schema, named.name, _NOWHERE)
            names = None if definition is None else definition.key
        result = table_named(source, names)
        is_wanted = result.name is None or self.feed.selection.wants_rows_of(result)
        extra, row = source_extra(source, None), self.payload.schema.field("after")
        schema_name = None
        if row is not None:
            schema_name = other_schema_name(row, result, extra, self.feed.settings)
        return result if is_wanted else None, extra, schema_name, self._cut(names)

    def _cut(self, names: tuple[str, ...] | None) -> Cut | None:
        """Return what takes the columns of a deleted row that are sure; None if all are."""
        is_unknown = names is None and not self.key.is_known
        is_whole = self.feed.settings.replica_identity == "full" or names == () or is_unknown
        if is_whole or self.declared.whole_rows:
            return None
        wanted = self.feed.selection.columns
        row = self.payload.struct("before")
        is_told = self.feed.settings.replica_identity != "default" or self.is_cdl

        def cut(before: Image) -> tuple[Image, Sent | None]:
            if names is None or row is None or self.key.may_be_null:
                raise Irregular
            key = frozenset(names)
            if not is_told and is_sent_whole(before, key, row.schema):
                return before if wanted is None else before.only(wanted), None
            return before.only(key if wanted is None else wanted & key), "key"

        return cut
