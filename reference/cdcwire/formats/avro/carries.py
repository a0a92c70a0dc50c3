"""The event fields and kinds that Avro carries under the default options."""

from __future__ import annotations

from cdcwire.model.carries import EXACT, NO, Carries, CarryVerdict, as_form, lossy, option
from cdcwire.mysql.carries import INDEXES_AS_LABELS, mysql_kinds

_KINDS: dict[str, CarryVerdict] = {
    **INDEXES_AS_LABELS,
    "bool": as_form("int32"),
    "int8": as_form("int32"),
    "int16": as_form("int32"),
    "int24": as_form("int32"),
    "int8 unsigned": as_form("int32 unsigned"),
    "int16 unsigned": as_form("int32 unsigned"),
    "int24 unsigned": as_form("int32 unsigned"),
}
CARRIES = Carries(
    fields={
        "op": option("enable-tidb-extension"),
        "before of update": option("avro-include-before-value"),
        "before of delete": lossy("columns outside the handle key"),
        "key": EXACT,
        "commit_ts": option("enable-tidb-extension"),
        "sequence_id": NO,
        "lsn": NO,
        "tx_id": NO,
        "commit_ms": option("enable-tidb-extension"),
        "sent_ms": NO,
        "partition": NO,
        "types": lossy("widths of integers and lengths"),
        "schema change": option("avro-enable-watermark"),
        "progress": option("avro-enable-watermark"),
        "markers": NO,
    },
    kinds=mysql_kinds(_KINDS),
)
