"""Recorded messages as feeds on disk: each engine in three forms, and each Maxwell.

A recording is one run of the workload: messages of each producer, and the rows in the end.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cdcwire.core.message import KafkaMessage
from cdcwire.core.options import OptionValue
from cdcwire.files.messages_io import write_messages
from cdcwire.schema_registry.client import ConfluentRegistry
from cdcwire_evidence import mariadb, maxwell
from cdcwire_evidence.debezium import engine
from cdcwire_evidence.debezium.engine import Engines, Sent
from cdcwire_evidence.mariadb import MariaDB
from cdcwire_evidence.producers import workload
from cdcwire_evidence.producers.captures import ENGINES, MAXWELLS, USER
from cdcwire_evidence.registry import apicurio

_SNAPSHOT_SECONDS = 180.0
_STREAM_SECONDS = 120.0
# To MySQL's connectors a server says that it is one that they know.
_OF_MYSQL = ("--version=5.7.19-log",)


@dataclass(frozen=True, slots=True)
class Recording:
    """The messages of each engine and each Maxwell, and the last rows of each table.

    ``rows``: by server (mariadb, mysql) and table; each value is MariaDB's own text of it.
    ``ddl``: the CREATE TABLE of all tables. ``registry``: where the schemas of Avro are.
    ``schemas``: their texts by id.
    """

    sent: Mapping[str, Sequence[Sent]]
    maxwell: Mapping[str, Sequence[bytes]]
    rows: Mapping[str, Mapping[str, Sequence[Mapping[str, str | None]]]]
    servers: Mapping[str, MariaDB]
    ddl: str
    registry: str
    schemas: Mapping[str, str]


@contextlib.contextmanager
def recorded(project: Path, folder: Path) -> Iterator[Recording]:
    """Give what was sent, while the servers still run. Raises: UnavailableError.

    ``project``: ``adapters/debezium``. ``folder``: for all files.
    """
    connectors = sorted({each.connector for each in ENGINES.values()})
    jars = {connector: engine.build(project, connector) for connector in connectors}
    classes = maxwell.fetch(folder)
    with contextlib.ExitStack() as stack:
        registry = stack.enter_context(apicurio.running(folder))
        servers = {
            name: stack.enter_context(_server(folder / name, options))
            for name, options in (("mariadb", ()), ("mysql", _OF_MYSQL))
        }
        files = {name: folder / f"{name}.json" for name in MAXWELLS}
        for server in servers.values():
            server.run(workload.ROWS)
        for number, (name, options) in enumerate(MAXWELLS.items()):
            listening = maxwell.running(classes, servers["mariadb"], number, options, files[name])
            stack.enter_context(listening)
            maxwell.bootstrap(servers["mariadb"], number, workload.SCHEMA, workload.BOOTSTRAPPED)
            mariadb.wait_for(files[name], b'{"id":%d}}' % workload.LAST_READ)
        engines: dict[str, Engines] = {}
        with contextlib.ExitStack() as running:
            for connector in connectors:
                here = folder / str(connector)
                here.mkdir()
                wanted = {
                    name: each.properties(name, servers[connector.name].port, 9000 + number)
                    for number, (name, each) in enumerate(ENGINES.items())
                    if each.connector == connector
                }
                url = f"http://127.0.0.1:{registry.port}/apis/registry/v2"
                found = running.enter_context(engine.running(jars[connector], wanted, here, url))
                engines.update(dict.fromkeys(wanted, found))
            for name, found in engines.items():
                found.wait(name, _has(workload.LAST_READ), _SNAPSHOT_SECONDS)
            for server in servers.values():
                server.run(workload.CHANGES)
            for name, found in engines.items():
                found.wait(name, _has(workload.LAST_PUT_IN), _STREAM_SECONDS)
            sent = {name: found.sent(name) for name, found in engines.items()}
        for file in files.values():
            mariadb.wait_for(file, b'{"id":%d}}' % workload.LAST_PUT_IN)
        lines = {name: file.read_bytes().splitlines() for name, file in files.items()}
        rows = {
            name: {table: server.rows(workload.SCHEMA, table) for table in workload.LAST_TABLES}
            for name, server in servers.items()
        }
        schemas = _schemas(registry.url, sent)
        ddl = servers["mariadb"].definitions(workload.SCHEMA)
        yield Recording(sent, lines, rows, servers, ddl, registry.url, schemas)


def _schemas(url: str, sent: Mapping[str, Sequence[Sent]]) -> dict[str, str]:
    """Return the schemas of a registry that messages in Avro name by their first bytes."""
    ids = {
        int.from_bytes(part[1:5], "big")
        for found in sent.values()
        for each in found
        if each.avro is not None
        for part in (each.avro.key, each.avro.value)
        if part is not None
    }
    client = ConfluentRegistry(url)
    texts = {str(number): client.get(number) for number in sorted(ids)}
    return {number: text for number, text in texts.items() if text is not None}


@contextlib.contextmanager
def _server(folder: Path, options: Sequence[str]) -> Iterator[MariaDB]:
    folder.mkdir()
    given = (*maxwell.SERVER_OPTIONS, "--default-time-zone=+00:00", *options)
    with mariadb.running(folder, given) as server:
        maxwell.add_user(server)
        user = f"{USER}@'127.0.0.1'"
        server.run(f"CREATE USER {user} IDENTIFIED BY '{USER}'; GRANT ALL ON *.* TO {user}")
        server.run(workload.TABLES)
        yield server


def _has(key: int) -> Callable[[list[Sent]], bool]:
    end, wanted = f".{workload.LAST}", b'"id":%d}' % key
    return lambda sent: any(
        found.topic.endswith(end) and wanted in (found.message.key or b"") for found in sent
    )


# The forms of an engine's messages: JSON with schemas, JSON without, Avro.
FORMS = ("json", "bare", "avro")
CAPTURES = (*(f"{name} {form}" for name in ENGINES for form in FORMS), *MAXWELLS)


# Columns of bytes, which some engines send as text.
_BINARY = ("c_binary", "c_varbinary", "c_blob", "shop.odd_keys.b")


def write_feeds(recording: Recording, folder: Path) -> dict[str, str]:
    """Write a directory for each of ``CAPTURES``; return each as the command line names a feed."""
    feeds = {}
    for name, found in recording.sent.items():
        messages = {
            "json": [each.message for each in found],
            "bare": [each.bare for each in found],
            "avro": [each.avro for each in found if each.avro is not None],
        }
        for form in FORMS:
            made = _write(folder / f"{name}-{form}", messages[form])
            feeds[f"{name} {form}"] = f"debezium-{'avro' if form == 'avro' else 'json'}:file:{made}"
        texts = folder / f"{name}-avro" / "schemas"
        texts.mkdir()
        for number, text in recording.schemas.items():
            (texts / f"{number}.avsc").write_text(text, encoding="utf-8")
    for name, lines in recording.maxwell.items():
        values = [KafkaMessage(None, line, has_key=False) for line in lines]
        feeds[name] = f"maxwell-json:file:{_write(folder / name, values)}"
    return feeds


def _write(folder: Path, messages: Sequence[KafkaMessage]) -> Path:
    folder.mkdir()
    write_messages(str(folder / "messages.jsonl"), messages)
    return folder


def reading_options(capture: str, side: str) -> dict[str, dict[str, OptionValue]]:
    """Return the options of ``compare`` for settings that a capture's messages do not show.

    Messages without schema show none of them. The others do not show that a text has bytes.
    """
    name, _, form = capture.partition(" ")
    if name not in ENGINES:
        return {}
    modes = ENGINES[name].modes
    if form == "bare":
        given = {name.replace(".", "-"): value for name, value in modes.items()}
        return {f"{side}_option": {**given, "connector": ENGINES[name].connector.name}}
    binary = modes["binary.handling.mode"].removesuffix("-url-safe")
    return {} if binary == "bytes" else {f"{side}_binary": dict.fromkeys(_BINARY, binary)}
