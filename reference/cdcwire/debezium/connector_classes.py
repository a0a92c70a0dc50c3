"""The classes of Debezium's connectors, and which of their messages describe a snapshot."""

from __future__ import annotations

from collections.abc import Mapping

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
