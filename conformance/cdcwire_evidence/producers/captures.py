"""The engines that listen to the workload: connectors, versions and settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from cdcwire.core.options import OptionValue
from cdcwire_evidence.debezium.engine import Connector
from cdcwire_evidence.producers.workload import SCHEMA

USER = "producer"
_MARIADB = Connector("mariadb", "3.5.0.Final")
_OLD = Connector("mysql", "1.9.8.Final")
_NEW = Connector("mysql", "3.6.1.Final")
_CLASSES = {
    "mariadb": "io.debezium.connector.mariadb.MariaDbConnector",
    "mysql": "io.debezium.connector.mysql.MySqlConnector",
}
_COMMON = {
    "database.include.list": SCHEMA,
    "heartbeat.interval.ms": "1000",
    "include.schema.changes": "true",
    "provide.transaction.metadata": "true",
    "skipped.operations": "none",
}
DEFAULTS = {
    "decimal.handling.mode": "precise",
    "time.precision.mode": "adaptive_time_microseconds",
    "binary.handling.mode": "bytes",
    "bigint.unsigned.handling.mode": "long",
}


@dataclass(frozen=True, slots=True)
class Engine:
    """A connector with the settings that shape values.

    ``settings``: where they are not the connector's defaults. ``left_out``: tables that stop it.
    """

    connector: Connector
    dialect: str
    settings: Mapping[str, str] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()

    @property
    def modes(self) -> dict[str, str]:
        """All settings that shape values, as Debezium names them."""
        return {**DEFAULTS, **self.settings}

    @property
    def options(self) -> dict[str, OptionValue]:
        """Return the options with which cdcwire writes as this engine does.

        Decimals as text are read as text. A precise BIGINT UNSIGNED is a decimal there
        too.
        """
        modes = {name.replace(".", "-"): value for name, value in self.modes.items()}
        modes["decimal-handling-mode"] = "auto"
        return {"dialect": self.dialect, "connector": self.connector.name, **modes}

    def properties(self, prefix: str, port: int, server_id: int) -> dict[str, str]:
        """Return what Debezium reads, with those that 1.9 has by another name."""
        is_old = self.connector.version.startswith("1.")
        history = "Database" if is_old else "Schema"
        setting = "database.history" if is_old else "schema.history.internal"
        is_mariadb = self.connector.name == "mariadb"
        left_out = ",".join(f"{SCHEMA}.{table}" for table in self.left_out)
        return {
            "connector.class": _CLASSES[self.connector.name],
            "database.port": str(port),
            "database.user": USER,
            "database.password": USER,
            "database.server.id": str(server_id),
            "database.ssl.mode": "disable" if is_mariadb else "disabled",
            "database.server.name" if is_old else "topic.prefix": prefix,
            setting: f"io.debezium.relational.history.Memory{history}History",
            **({"table.exclude.list": left_out} if left_out else {}),
            **_COMMON,
            **self.settings,
        }


# A TIME that is no time of day stops an engine that has to send one.
_NO_DURATIONS = ("durations",)
_TEXT = {
    "decimal.handling.mode": "string",
    "time.precision.mode": "connect",
    "binary.handling.mode": "base64",
    "bigint.unsigned.handling.mode": "precise",
}
ENGINES: Mapping[str, Engine] = MappingProxyType(
    {
        "mariadb": Engine(_MARIADB, "debezium-3.5"),
        "mariadb_text": Engine(_MARIADB, "debezium-3.5", _TEXT, _NO_DURATIONS),
        "mariadb_double": Engine(
            _MARIADB,
            "debezium-3.5",
            {"decimal.handling.mode": "double", "binary.handling.mode": "hex"},
        ),
        "mariadb_iso": Engine(
            _MARIADB,
            "debezium-3.5",
            {"time.precision.mode": "isostring", "binary.handling.mode": "base64-url-safe"},
            _NO_DURATIONS,
        ),
        "mariadb_micro": Engine(_MARIADB, "debezium-3.5", {"time.precision.mode": "microseconds"}),
        "mysql_19": Engine(_OLD, "debezium-1.9"),
        "mysql_19_text": Engine(_OLD, "debezium-1.9", _TEXT, _NO_DURATIONS),
        "mysql_36": Engine(_NEW, "debezium-3.6"),
        "mysql_36_text": Engine(_NEW, "debezium-3.6", _TEXT, _NO_DURATIONS),
    }
)
MAXWELLS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "maxwell": (),
        "maxwell_full": (
            "--output_ddl=true",
            "--output_binlog_position=true",
            "--output_server_id=true",
            "--output_primary_keys=true",
            "--output_primary_key_columns=true",
        ),
    }
)
