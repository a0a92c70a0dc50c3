"""The parts that every Avro library needs to read Debezium: the types of Connect, and events.

A reader is a function ``read(datum)``. It returns the record of a datum as a mapping from field
names to the library's values. Nothing here looks into the binary encoding. This module does the
rest for all libraries alike, as their users have to:

- ``connect.name`` and ``connect.parameters`` say what a value means; libraries ignore both;
- a delete of PostgreSQL's connector has NULL for columns that it does not send;
- what is not read (schema changes, rows without envelope) is not claimed.
"""

from __future__ import annotations

import base64
import datetime
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Any

from avro_data import Datum, JsonObject, Read, Record, datum_of
from testee import Message

WITHOUT = ("schema changes", "unwrapped rows", "unsigned", "ticdc", "foreign types")
PLACEHOLDER = "__debezium_unavailable_value"
ROUTED = "__dbz__physicalTableIdentifier"
OPERATIONS = {"c": "insert", "u": "update", "d": "delete", "r": "read"}
UNITS = {
    "io.debezium.time.Date": "d",
    "io.debezium.time.Time": "ms",
    "io.debezium.time.MicroTime": "us",
    "io.debezium.time.NanoTime": "ns",
    "io.debezium.time.Timestamp": "ms",
    "io.debezium.time.MicroTimestamp": "us",
    "io.debezium.time.NanoTimestamp": "ns",
    "io.debezium.time.MicroDuration": "us",
}
POSITIONS = {
    "commit_ms": "ts_ms",
    "lsn": "lsn",
    "tx_id": "txId",
    **{name: name for name in ("file", "pos", "row", "gtid", "server_id")},
    **{name: name for name in ("scn", "commit_scn", "rs_id", "ssn")},
    **{name: name for name in ("commit_lsn", "change_lsn", "event_serial_no")},
}
"""Members of ``source`` by the names of positions."""
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
MILLISECOND = datetime.timedelta(milliseconds=1)


@lru_cache(maxsize=256)
def schema_of(text: str) -> JsonObject:
    """Return a schema in which the name of a type is replaced by the type."""
    found: JsonObject = _resolved(json.loads(text), {}, "")
    return found


def _resolved(node: Any, known: dict[str, Any], namespace: str) -> Any:
    """Return a type in which each name is replaced by its type, which may contain itself."""
    if isinstance(node, str):
        return known.get(node, known.get(f"{namespace}.{node}", {"type": node}))
    if isinstance(node, list):
        return [_resolved(branch, known, namespace) for branch in node]
    kind = node["type"]
    if kind in ("array", "map"):
        inner = "items" if kind == "array" else "values"
        return {**node, inner: _resolved(node[inner], known, namespace)}
    if kind not in ("record", "enum", "fixed"):
        return node if isinstance(kind, str) else _resolved(kind, known, namespace)
    found = dict(node)
    full = node["name"]
    if "." not in full:
        full = f"{node.get('namespace', namespace)}.{full}"
    known[full] = found
    if kind == "record":
        inside = full.rpartition(".")[0]
        found["fields"] = {
            field["name"]: _resolved(field["type"], known, inside) for field in node["fields"]
        }
        found["columns"] = {
            field["name"]: field.get("connect.field", field["name"]) for field in node["fields"]
        }
    return found


def decoder(read: Read) -> Callable[[Message, JsonObject], Iterator[JsonObject]]:
    """Return the function that ``testee.serve_formats`` wants, made of a reader."""

    def record_of(data: bytes, request: JsonObject) -> tuple[JsonObject, Record]:
        framing = request.get("options", {}).get("registry", "confluent")
        datum: Datum = datum_of(data, request.get("schemas", {}), framing)
        return schema_of(datum.schema), read(datum)

    def decode(message: Message, request: JsonObject) -> Iterator[JsonObject]:
        key = None if message.key is None else record_of(message.key, request)[0]
        if message.value is None:
            yield {"kind": "marker", "what": "tombstone"}
        else:
            yield event_of(key, *record_of(message.value, request), request.get("options", {}))

    return decode


def event_of(
    key: JsonObject | None, schema: JsonObject, record: Record, options: JsonObject
) -> JsonObject:
    """Return the event of a message, by the members that its value has. Raises: ValueError."""
    fields = schema["fields"]
    if "op" in fields:
        return _of_table(key, fields, record, options)
    if "status" in fields:
        if record["status"] not in ("BEGIN", "END"):
            raise ValueError(f"status is {record['status']!r}")
        what, name = record["status"].lower(), record["id"]
        return {"kind": "marker", "what": what, "id": name, "position": _position(record, {})}
    if "source" not in fields and "ts_ms" in fields:
        return {"kind": "progress", "what": "heartbeat", "position": _position(record, {})}
    raise ValueError("this is not a message of Debezium's")


def _of_table(
    key: JsonObject | None, fields: JsonObject, record: Record, options: JsonObject
) -> JsonObject:
    op, source = record["op"], record["source"]
    event: dict[str, Any] = {"position": _position(record, source)}
    if op == "m":
        name = record["message"]["prefix"]
        return {**event, "kind": "marker", "what": "logical_message", "id": name}
    schema = source.get("schema", source.get("keyspace"))  # the latter is Vitess's
    event |= {"table": source["table"], "schema": schema or source["db"]}
    if schema and source["db"]:
        event["database"] = source["db"]
    if op == "t":
        return {**event, "kind": "ddl", "what": "truncate"}
    before, after = record.get("before"), record.get("after")
    if op not in OPERATIONS or (after is None) != (op == "d") or (op == "d" and before is None):
        raise ValueError(f"op is {op!r}, which does not fit the rows")
    values = Values(options.get("unavailable-value-placeholder", PLACEHOLDER))
    names = [] if key is None else [name for name in key["columns"].values() if name != ROUTED]
    is_cut = source["connector"] == "postgresql" and options.get("replica-identity") != "full"
    kept = names if op == "d" and names and is_cut else None
    is_insert = op == "r" and options.get("read-r-as-c")
    return {
        **event,
        "kind": "row",
        "op": "insert" if is_insert else OPERATIONS[op],
        "key": names,
        "before": values.image(fields["before"], before, kept),
        "after": values.image(fields["after"], after, None),
    }


def _position(record: Record, source: Record) -> JsonObject:
    found = {
        name: source[member] for name, member in POSITIONS.items() if source.get(member) is not None
    }
    if record.get("ts_ms") is not None:
        found["sent_ms"] = record["ts_ms"]
    if record.get("transaction") is not None:
        found["tx_order"] = record["transaction"]["total_order"]
    return {name: str(value) for name, value in found.items()}


def branch_of(kind: Any) -> JsonObject:
    """Return the type of a value that is not null. Raises: ValueError if several can be meant."""
    branches = kind if isinstance(kind, list) else [kind]
    found = [branch for branch in branches if branch["type"] != "null"]
    if len(found) != 1:
        raise ValueError(f"a union of {len(found)} types is the type of no column")
    branch: JsonObject = found[0]
    return branch


def _decimal(unscaled: bytes, scale: int) -> Decimal:
    digits = Decimal(int.from_bytes(unscaled, "big", signed=True)).as_tuple()
    return Decimal((digits.sign, digits.digits, -scale))


@dataclass(frozen=True)
class Values:
    """Values as columns of the testee protocol.

    ``placeholder``: the text in place of a value that the producer did not have.
    """

    placeholder: str

    def image(self, kind: Any, row: Record | None, kept: list[str] | None) -> JsonObject | None:
        """Return the columns of a row; with ``kept`` without those that have no value."""
        if row is None:
            return None
        kind = branch_of(kind)
        return {
            column: self.value(kind["fields"][name], row[name])
            for name, column in kind["columns"].items()
            if kept is None or column in kept or row[name] is not None
        }

    def value(self, kind: Any, cell: Any) -> Any:
        """Return what a library made of a value as a column of the testee protocol."""
        if cell is None:
            return None
        kind = branch_of(kind)
        name = kind.get("connect.name", "")
        match cell:
            case bool():
                return "true" if cell else "false"
            case int() if name in UNITS:
                return {"value": str(cell), "unit": UNITS[name]}
            case int():
                return str(cell)
            case float():
                return repr(cell)
            case Decimal():
                return format(cell, "f")
            case datetime.datetime():
                return {"value": str((cell - EPOCH) // MILLISECOND), "unit": "ms"}
            case datetime.date():
                return {"value": str((cell - EPOCH.date()).days), "unit": "d"}
            case datetime.time():
                of_day = datetime.datetime.combine(EPOCH, cell, EPOCH.tzinfo)
                return {"value": str((of_day - EPOCH) // MILLISECOND), "unit": "ms"}
            case bytes():
                return self._bytes(kind, name, cell)
            case str() if name.startswith("io.debezium.time.Zoned"):
                return {"value": cell, "zone": "+00:00"}
            case str():
                return {"unavailable": True} if cell == self.placeholder else cell
            case list():
                return self._items(branch_of(kind["items"]), kind["items"], cell)
            case dict() if kind["type"] == "map":
                if cell == {self.placeholder: self.placeholder}:
                    return {"unavailable": True}
                return {
                    "entries": [[each, self.value(kind["values"], cell[each])] for each in cell]
                }
            case dict() if name == "io.debezium.data.VariableScaleDecimal":
                return format(_decimal(cell["value"], cell["scale"]), "f")
            case dict():
                fields = kind["fields"]
                return {"fields": {each: self.value(fields[each], cell[each]) for each in fields}}
        raise ValueError(f"{type(cell).__name__} is the value of no column")

    def _bytes(self, kind: JsonObject, name: str, cell: bytes) -> Any:
        if name == "org.apache.kafka.connect.data.Decimal":  # of a scale that the library refuses
            return format(_decimal(cell, int(kind["connect.parameters"]["scale"])), "f")
        if name == "io.debezium.data.Bits":
            return str(int.from_bytes(cell, "little"))
        if cell == self.placeholder.encode():
            return {"unavailable": True}
        return {"bytes": base64.b64encode(cell).decode("ascii")}

    def _items(self, item: JsonObject, kind: Any, cell: list[Any]) -> JsonObject:
        """Return an array; a map whose keys are not texts is an array of records in Avro."""
        if item.get("connect.internal.type") == "MapEntry" or item.get("name") == "MapEntry":
            key, value = item["fields"]["key"], item["fields"]["value"]
            pairs = [
                [self.value(key, each["key"]), self.value(value, each["value"])] for each in cell
            ]
            return {"entries": pairs}
        if cell == [self.placeholder]:
            return {"unavailable": True}
        return {"items": [self.value(kind, each) for each in cell]}
