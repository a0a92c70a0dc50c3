"""Declarations that Debezium's JSON and Avro share: connectors, losses, facts for comparisons."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from cdcwire.connect.carries import KIND_FEATURES
from cdcwire.core.options import OptionValue
from cdcwire.core.orders import BINLOG, CHANGE_LSN, COMMIT_TS, GTID, LSN, RS_ID, SCN
from cdcwire.debezium.names import adjusted_name
from cdcwire.debezium.settings import TO_TOMBSTONE
from cdcwire.model.carries import EXACT, NO, CarryVerdict, lossy, option
from cdcwire.model.events import SchemaChange

CLASSES: Mapping[str, Mapping[str, str]] = {
    "mysql.MySqlConnector": {
        "connector": "mysql",
        "time-precision-mode": "adaptive_time_microseconds",
    },
    "mariadb.MariaDbConnector": {
        "connector": "mariadb",
        "time-precision-mode": "adaptive_time_microseconds",
    },
    "postgresql.PostgresConnector": {"connector": "postgresql", "hstore-handling-mode": "json"},
    "sqlserver.SqlServerConnector": {"connector": "sqlserver"},
    "oracle.OracleConnector": {"connector": "oracle"},
    "db2.Db2Connector": {"connector": "db2"},
}
"""By the end of the class, the options that the defaults of the connector give."""


def describes_snapshot(change: SchemaChange) -> bool:
    """Return whether a schema change is the statement of a table in a snapshot."""
    is_statement = change.query is not None  # a message of a TRUNCATE has none
    return is_statement and change.extra.get("snapshot", "false") != "false"


DEBEZIUM_FEATURES: Mapping[str, str] = {
    **KIND_FEATURES,
    "position": "place in the log of the source, transaction id and time of the commit",
    "key": "the key columns of a row",
    "tombstone": "messages without value",
    "unavailable": "values that the producer did not have",
    "heartbeat": "heartbeats",
    "transaction": "begin and end of transactions",
    "logical message": "messages put into the log by hand",
    "truncate": "truncated tables",
    "schema changes": "messages of the schema change topic",
    "ticdc": "TiCDC's messages",
}
"""The features of Debezium's messages, whatever their bytes are."""

DEBEZIUM_FIELDS: Mapping[str, CarryVerdict] = {
    "op": EXACT,
    "before of update": option("transforms", "none"),
    "before of delete": option("replica-identity", "full"),
    "key": EXACT,
    "commit_ts": NO,
    "sequence_id": NO,
    "lsn": EXACT,
    "tx_id": EXACT,
    "commit_ms": EXACT,
    "sent_ms": EXACT,
    "partition": NO,
    "types": EXACT,
    "schema change": lossy("the statement and its number; few but truncate have a form"),
    "progress": EXACT,
    "markers": EXACT,
}


ORDERS = (LSN, BINLOG, CHANGE_LSN, RS_ID, SCN, GTID, COMMIT_TS)
NOT_COMPARED = (
    "other members of source",
    "transaction",
    *("ts_ms of the envelope", "ts_us", "ts_ns"),
    "fields that unwrap or CDL add",
    "notifications",
)
KEY_FIELD_OPTION = "key-field-name"
_UNDONE = "avro_unicode"  # other modes lose names
ADJUSTED_NAME = "field-name-adjustment-mode", _UNDONE, partial(adjusted_name, mode=_UNDONE)
_CHANGED_BY_TICDC = (
    "NULL in a column with a default is the default, or 0",
    "a zero or partial date is NULL or 0, a zero TIMESTAMP 1970",
    "years below 100 are 1970 to 2069",
    "index 0 of an ENUM is an empty label",
)


_TOMBSTONES = "delete-tombstone-handling-mode"


def deletes_have_position(options: Mapping[str, OptionValue]) -> bool:
    """Return False if a tombstone is a delete."""
    return options["transforms"] != "unwrap" or options[_TOMBSTONES] not in TO_TOMBSTONE


def deletes_in_markers(options: Mapping[str, OptionValue]) -> str | None:
    """Return the option that reads the tombstones of rows by themselves as deletes."""
    is_open = options["transforms"] == "unwrap" and options[_TOMBSTONES] == "auto"
    return f"{_TOMBSTONES}=tombstone" if is_open else None


def changed_values(options: Mapping[str, OptionValue]) -> tuple[str, ...]:
    """Return what the producer of the dialect makes of values that it does not send.

    Source: debezium-json, "Shipped".
    """
    return _CHANGED_BY_TICDC if options["dialect"] == "ticdc" else ()
