"""One run of everything: PostgreSQL, engines with many settings, statements, and what was sent."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from cdcwire.core.options import OptionValue
from cdcwire_evidence.debezium import columns, engine, postgres, script
from cdcwire_evidence.debezium.engine import Connector, Engines, Sent
from cdcwire_evidence.debezium.expected import DEFAULT_MODES, Modes
from cdcwire_evidence.debezium.postgres import Postgres

PREFIX = "shop"
KINDS = "kinds"
STREAMED = 100  # is added to the keys of rows that are put in while Debezium looks
_LAST = "zz_last"  # its rows are the last that are read, and that are put in
_SNAPSHOT_SECONDS = 180.0
_STREAM_SECONDS = 120.0
_COMMON = {
    "heartbeat.interval.ms": "500",
    "provide.transaction.metadata": "true",
    "skipped.operations": "none",
}
_TEXT = Modes("string", "connect", "base64", "string", "map")


@dataclass(frozen=True, slots=True)
class Setting:
    """An engine: Debezium's version, cdcwire's name of the dialect, and the modes of values."""

    version: str
    dialect: str
    modes: Modes = DEFAULT_MODES

    @property
    def options(self) -> dict[str, OptionValue]:
        """Return the options with which cdcwire writes as this engine does."""
        return {
            "dialect": self.dialect,
            "decimal-handling-mode": self.modes.decimals,
            "time-precision-mode": self.modes.times,
            "binary-handling-mode": self.modes.binary,
            "interval-handling-mode": self.modes.intervals,
            "hstore-handling-mode": self.modes.hstore,
        }


SETTINGS: Mapping[str, Setting] = MappingProxyType(
    {
        "2.7": Setting("2.7.4.Final", "debezium-2.7"),
        "2.7-text": Setting("2.7.4.Final", "debezium-2.7", _TEXT),
        "3.2": Setting("3.2.0.Final", "debezium-3.2"),
        "3.2-text": Setting("3.2.0.Final", "debezium-3.2", _TEXT),
        "3.2-double": Setting(
            "3.2.0.Final", "debezium-3.2", Modes("double", "adaptive_time_microseconds", "hex")
        ),
        "3.2-iso": Setting(
            "3.2.0.Final", "debezium-3.2", Modes(times="isostring", binary="base64-url-safe")
        ),
        "3.2-micro": Setting("3.2.0.Final", "debezium-3.2", Modes(times="microseconds")),
        "3.2-nano": Setting("3.2.0.Final", "debezium-3.2", Modes(times="nanoseconds")),
        "3.6": Setting("3.6.1.Final", "debezium-3.6"),
        "3.6-text": Setting("3.6.1.Final", "debezium-3.6", _TEXT),
    }
)


@dataclass(frozen=True, slots=True)
class Recording:
    """What each engine sent, by its name, and PostgreSQL's own texts of the rows of all kinds.

    ``put_in`` and ``changed`` have the rows by key, before and after the update. ``started`` and
    ``ended`` are milliseconds since 1970.
    """

    sent: Mapping[str, Sequence[Sent]]
    put_in: Mapping[int, Mapping[str, str | None]]
    changed: Mapping[int, Mapping[str, str | None]]
    started: int
    ended: int


def record(project: Path, folder: Path) -> Recording:
    """Return what was sent. ``project``: ``adapters/debezium``. Raises: UnavailableError."""
    versions = sorted({setting.version for setting in SETTINGS.values()})
    jars = {version: engine.build(project, Connector("postgres", version)) for version in versions}
    started = time.time_ns() // 10**6
    with postgres.running(columns.EXTENSIONS) as server, contextlib.ExitStack() as stack:
        _prepare(server)
        engines: dict[str, Engines] = {}
        for version in versions:
            here = folder / version
            here.mkdir()
            wanted = {
                name: {**_COMMON, **_reaching(server, name), **setting.modes.properties()}
                for name, setting in SETTINGS.items()
                if setting.version == version
            }
            found = stack.enter_context(engine.running(jars[version], wanted, here))
            engines.update(dict.fromkeys(wanted, found))
        for name, found in engines.items():
            found.wait(name, _has_last(b'"id":0}'), _SNAPSHOT_SECONDS)
        put_in, changed = _change(server)
        for name, found in engines.items():
            found.wait(name, _has_last(b'"id":1}'), _STREAM_SECONDS)
        sent = {name: found.sent(name) for name, found in engines.items()}
    return Recording(sent, put_in, changed, started, time.time_ns() // 10**6)


def _reaching(server: Postgres, name: str) -> dict[str, str]:
    """Return the settings with which an engine reaches the server, with its own slot."""
    identifier = f"engine_{name}".replace("-", "_").replace(".", "_")
    return {
        "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
        "database.port": str(server.port),
        "database.user": server.user,
        "database.password": server.password,
        "database.dbname": server.database,
        "topic.prefix": PREFIX,
        "plugin.name": "pgoutput",
        "slot.name": identifier,
        "publication.name": identifier,
        "publication.autocreate.mode": "all_tables",
    }


def _prepare(server: Postgres) -> None:
    rows = (columns.insert_row(KINDS, key, key) for key in range(columns.ROWS))
    server.run(f"{columns.TYPES}{columns.create_table(KINDS)}{''.join(rows)}")
    server.run(script.BEFORE)
    server.run(f"CREATE TABLE {_LAST} (id int PRIMARY KEY); INSERT INTO {_LAST} VALUES (0)")


def _change(
    server: Postgres,
) -> tuple[dict[int, dict[str, str | None]], dict[int, dict[str, str | None]]]:
    numbers = range(columns.ROWS)
    server.run("".join(columns.insert_row(KINDS, STREAMED + key, key) for key in numbers))
    put_in = _rows(server)
    following = ((key, (key + 1) % columns.ROWS) for key in numbers)
    server.run("".join(columns.update_row(KINDS, STREAMED + key, n) for key, n in following))
    changed = _rows(server)
    server.run(f"DELETE FROM {KINDS} WHERE id >= {STREAMED}")
    server.run(script.AFTER)
    server.run(script.TRANSACTION)
    server.run(f"INSERT INTO {_LAST} VALUES (1)")
    return put_in, changed


def _rows(server: Postgres) -> dict[int, dict[str, str | None]]:
    return {int(row["id"] or ""): row for row in server.rows(f"SELECT * FROM {KINDS}")}


def _has_last(key: bytes) -> Callable[[list[Sent]], bool]:
    topic = f"{PREFIX}.public.{_LAST}"
    return lambda sent: any(
        found.topic == topic and key in (found.message.key or b"") for found in sent
    )
