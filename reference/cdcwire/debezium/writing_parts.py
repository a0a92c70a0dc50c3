"""The common parts of all of Debezium's messages when they are written."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from cdcwire.connect import ConnectValue, Envelope
from cdcwire.core.errors import EncodeError
from cdcwire.debezium.connectors import Member
from cdcwire.debezium.schemas import source_schema
from cdcwire.debezium.settings import Settings
from cdcwire.debezium.shapes import VERSIONS, Shape, shape_of
from cdcwire.debezium.unwrapped import is_row_schema
from cdcwire.model.events import Extra, Path, Position, Table
from cdcwire.model.instants import ms_of_tso

_MEMBERS = "debezium-json: members"
_SOURCE = "debezium-json: source"
_BLOCK = "debezium-json: transaction block"
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,18}")  # as it comes back


def source_values(
    table: Table, position: Position, extra: Extra, settings: Settings, op: str
) -> tuple[ConnectValue, ...]:
    """Return the values of ``source`` in the order of its schema. Raises: EncodeError."""
    if table.name is None:
        raise EncodeError("a change needs the name of its table", _SOURCE)
    return statement_source_values(table, position, extra, settings, op)


def statement_source_values(
    table: Table, position: Position, extra: Extra, settings: Settings, op: str = "c"
) -> tuple[ConnectValue, ...]:
    """Return the values of ``source``; that of a statement may have no table.

    Raises: EncodeError.
    """
    shape = shape_of(extra, settings)
    values = common_values(table, extra, settings, op)
    values["ts_ms"] = commit_ms_of(position)
    for member in shape.source.members_of(shape.version):
        if member.place:
            values[member.name] = member_value(member, position, extra)
    return tuple(values[field.name] for field in source_schema(shape).fields)


def common_values(
    table: Table, extra: Extra, settings: Settings, op: str
) -> dict[str, ConnectValue]:
    """Return the members of ``source`` that all connectors have, but its time.

    Raises: EncodeError.
    """
    shape = shape_of(extra, settings)
    database, schema = table.database or settings.database, table.schema or ""
    declared = shape.source
    if not declared.has_database:
        database = schema if declared.schema_member == "db" else ""
    connector = extra_text(extra, "connector") or settings.other_connector
    return {
        "version": extra_text(extra, "connector_version") or VERSIONS[settings.dialect],
        "connector": connector.lower(),
        "name": extra_text(extra, "source_name") or settings.topic_prefix,
        "snapshot": _snapshot(extra, op),
        "sequence": extra_text(extra, "sequence"),
        "ts_us": extra_number(extra, "source_ts_us"),
        "ts_ns": extra_number(extra, "source_ts_ns"),
        "schema": schema,
        "keyspace": schema,
        "db": database,
        "table": table.name,
    }


def member_value(member: Member, position: Position, extra: Extra) -> int | str | None:
    """Return the value of a member of ``source``. Raises: EncodeError."""
    where: Path = ("extra", member.place)
    found: int | str | None
    if member.in_position:
        found, where = getattr(position, member.place), ("position", member.place)
    else:
        found = extra_text(extra, member.place)
    if found is None:
        found = member.missing
        if found is None and not member.optional:
            raise EncodeError(f"the source needs {member.name}", _SOURCE, where)
        return found
    if member.type == "string":
        return f"{found}"
    if isinstance(found, int):
        return found
    if _INTEGER.fullmatch(found) is None:
        names = {"tx_id": "transaction id"}
        what = names.get(member.place, member.name)
        raise EncodeError(f"{what} {found!r:.40} is not an integer", _SOURCE, where)
    return int(found)


def _snapshot(extra: Extra, op: str) -> str | None:
    if "snapshot" in extra:
        return extra_text(extra, "snapshot")
    return "true" if op == "r" else "false"


def commit_ms_of(position: Position) -> int:
    """Return when a change was committed; a TSO has it in its upper bits. Raises: EncodeError."""
    if position.commit_ms is not None:
        return position.commit_ms
    if position.commit_ts is not None:
        return ms_of_tso(position.commit_ts)
    raise EncodeError("the time of the commit is required", _SOURCE, ("position", "commit_ms"))


def block_values(position: Position, extra: Extra) -> tuple[ConnectValue, ...] | None:
    """Return the values of ``transaction``; None where there is no id. Raises: EncodeError."""
    name = extra_text(extra, "transaction_id")
    if name is None:
        return None
    order = extra_number(extra, "data_collection_order")
    if position.tx_order is None or order is None:
        raise EncodeError("a transaction's id needs the order in it", _BLOCK)
    return name, position.tx_order, order


def moment_values(position: Position, extra: Extra, shape: Shape) -> list[int | None]:
    """Return when the connector handled an event, as far as the version says it."""
    if not shape.has_moments:
        return [position.sent_ms]
    return [position.sent_ms, extra_number(extra, "ts_us"), extra_number(extra, "ts_ns")]


@dataclass(frozen=True, slots=True)
class Writer:
    """The settings of the encoder, and the function that makes the bytes of a key or value."""

    settings: Settings
    encode: Callable[[Envelope], bytes]

    def value(self, envelope: Envelope, *, is_like_row: bool = True) -> bytes:
        """Return the bytes of a value. Raises: EncodeError, if it would be read as a row.

        ``is_like_row``: whether only its schema distinguishes it from a row by itself.
        """
        schema = None if self.settings.schemas_enable == "false" else envelope.schema
        is_row = is_like_row if schema is None else is_row_schema(schema)
        if self.settings.transforms == "unwrap" and is_row:
            problem = "transforms=unwrap is for reading: the message would be read as a row"
            raise EncodeError(problem, "debezium-json: unwrapped rows")
        return self.encode(envelope)


def extra_text(extra: Extra, name: str) -> str | None:
    """Return a text that ``extra`` has. Raises: EncodeError."""
    value = extra.get(name)
    if value is not None and not isinstance(value, str):
        raise EncodeError(f"{name} is text", _MEMBERS, ("extra", name))
    return value


def extra_number(extra: Extra, name: str) -> int | None:
    """Return an integer that ``extra`` has as text. Raises: EncodeError."""
    text = extra_text(extra, name)
    if text is None:
        return None
    if _INTEGER.fullmatch(text) is None:
        raise EncodeError(f"{name} {text!r:.40} is not an integer", _MEMBERS, ("extra", name))
    return int(text)
