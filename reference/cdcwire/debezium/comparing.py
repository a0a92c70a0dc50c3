"""The facts that a comparison of two feeds asks for, in JSON and in Avro alike."""

from __future__ import annotations

from cdcwire.core.orders import BINLOG, CHANGE_LSN, COMMIT_TS, GTID, LSN, RS_ID, SCN

ORDERS = (LSN, BINLOG, CHANGE_LSN, RS_ID, SCN, GTID, COMMIT_TS)
NOT_COMPARED = (
    "other members of source",
    "transaction",
    *("ts_ms of the envelope", "ts_us", "ts_ns"),
    "fields that unwrap or CDL add",
    "notifications",
)
