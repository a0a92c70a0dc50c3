"""The Avro schema that TiCDC's ``debezium-avro`` registers for a schema of Connect, as text.

Members are sorted by name, and written by Go's ``encoding/json``. The second use of a record is its
full name. Each field has its original name in ``connect.field``.

Source: debezium-avro, "ticdc"; pingcap/ticdc@b813e76.
"""

from __future__ import annotations

from functools import lru_cache

from cdcwire.connect import Schema
from cdcwire.connect.schema import INT_BITS, TIDB_TYPE
from cdcwire.connect.types import CONNECT_DECIMAL
from cdcwire.core.errors import EncodeError, step
from cdcwire.debezium.ticdc import safe_name
from cdcwire.formats.debezium_avro.avro_schema import NAMES
from cdcwire.formats.debezium_avro.connect_schema import CONNECT_FIELD
from cdcwire.golang import SmallValue, compact_json

_PRIMITIVES = {
    **dict.fromkeys(INT_BITS, "int"),
    "int64": "long",
    **{name: name for name in ("boolean", "string", "bytes", "float", "double")},
}


@lru_cache(maxsize=256)
def ticdc_text(schema: Schema) -> str:
    """Return the text of the Avro schema. Raises: EncodeError for two fields of one name."""
    return compact_json(_of(schema, set()))


def _of(schema: Schema, written: set[str]) -> SmallValue:
    if schema.type == "struct":
        return _record(schema, written)
    if schema.type == "array" and schema.items is not None:
        return _sorted({"type": "array", "items": _of(schema.items, written), **_described(schema)})
    made: dict[str, SmallValue] = {"type": _PRIMITIVES[schema.type], **_described(schema)}
    if schema.name == CONNECT_DECIMAL:
        sizes = {name: int(text) for name, text in _parameters(schema)}
        made.update({"logicalType": "decimal", **sizes})
    elif schema.type in ("int8", "int16"):
        made["connect.type"] = schema.type
    return _sorted(made) if len(made) > 1 else made["type"]


def _record(schema: Schema, written: set[str]) -> SmallValue:
    full_name = ".".join(map(safe_name, (schema.name or "").split(".")))
    if full_name in written:
        return full_name
    written.add(full_name)
    namespace, _, name = full_name.rpartition(".")
    names: set[str] = set()
    fields: list[SmallValue] = []
    for each in schema.fields:
        field_name = safe_name(each.name)
        if field_name in names:
            problem = f"two columns have the name {field_name!r:.40}, and TiCDC sends no such row"
            raise EncodeError(problem, NAMES, (each.name,))
        names.add(field_name)
        with step(each.name):
            made = _of(each.schema, written)
        field: dict[str, SmallValue] = {CONNECT_FIELD: each.name, "name": field_name, "type": made}
        tidb_type = each.schema.parameter(TIDB_TYPE)
        if tidb_type is not None:
            field[TIDB_TYPE] = tidb_type
        if each.schema.optional:
            field.update({"type": ["null", made], "default": None})
        fields.append(_sorted(field))
    record: dict[str, SmallValue] = {"type": "record", "name": name, "namespace": namespace}
    return _sorted({**record, "fields": fields, **_described(schema)})


def _described(schema: Schema) -> dict[str, SmallValue]:
    found: dict[str, SmallValue] = {}
    if schema.name is not None:
        found["connect.name"] = schema.name
    if schema.version is not None:
        found["connect.version"] = schema.version
    parameters = _parameters(schema)
    if parameters:
        found["connect.parameters"] = dict(sorted(parameters))
    return found


def _parameters(schema: Schema) -> list[tuple[str, str]]:
    """Return the parameters of the type; the type in TiDB is one of the field."""
    return [each for each in schema.parameters or () if each[0] != TIDB_TYPE]


def _sorted(made: dict[str, SmallValue]) -> dict[str, SmallValue]:
    return dict(sorted(made.items()))
