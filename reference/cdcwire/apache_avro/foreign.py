"""Values of types that no TiCDC writes: unions of other types, arrays, maps and records.

A union gives the value of its branch. Bytes and strings stay as they are; all else is JSON text in
the way of Avro's JSON encoding, without the names of branches.
"""

from __future__ import annotations

import json
import math

from cdcwire.apache_avro.datum import Branch, Datum
from cdcwire.apache_avro.schema import Array, AvroType, Map, Record, Union
from cdcwire.model.kinds import Value


def foreign_value(kind: AvroType, datum: Datum) -> Value:
    """Return the model's value of a datum of any type; None is NULL."""
    kind, datum = _branch(kind, datum)
    if datum is None or isinstance(datum, (str, bytes)):
        return datum
    return json.dumps(_json(kind, datum), ensure_ascii=False, separators=(",", ":"))


def _branch(kind: AvroType, datum: Datum) -> tuple[AvroType, Datum]:
    if not isinstance(kind, Union):
        return kind, datum
    if isinstance(datum, Branch):
        return _branch(kind.branches[datum.index], datum.value)
    if datum is None:
        return kind, None
    (other,) = (b for i, b in enumerate(kind.branches) if i != kind.null_index)
    return other, datum


def _json(kind: AvroType, datum: Datum) -> object:
    kind, datum = _branch(kind, datum)
    match kind:
        case Array(items):
            return [_json(items, item) for item in datum]
        case Map(values):
            return {key: _json(values, value) for key, value in datum}
        case Record():
            pairs = zip(kind.fields, datum, strict=True)
            return {field.name: _json(field.type, value) for field, value in pairs}
        case _:
            if isinstance(datum, bytes):
                return datum.decode("latin-1")
            return str(datum) if isinstance(datum, float) and not math.isfinite(datum) else datum
