"""Debezium in a process of its own, on a PostgreSQL of ours: what it would send to Kafka.

The program is ``adapters/debezium``; Maven builds it, once for each version of Debezium. Several
engines run in one process, each with settings, a slot and a publication of its own.
"""

from __future__ import annotations

import base64
import contextlib
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from cdcwire.core.message import KafkaMessage
from cdcwire_evidence.debezium.postgres import Postgres
from cdcwire_evidence.registry.apicurio import UnavailableError

PREFIX = "shop"
_STOP_SECONDS = 60.0
_BUILD_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class Sent:
    """A message of Debezium's, as JsonConverter writes it with schemas and without."""

    topic: str
    message: KafkaMessage
    bare: KafkaMessage


def build(project: Path, version: str) -> Path:
    """Return the program of a version, built if it is not there or older than its source.

    Raises: UnavailableError.
    """
    jar = project / "build" / version / "run-debezium.jar"
    sources = (project / "pom.xml", *(project / "src").iterdir())
    if jar.is_file() and jar.stat().st_mtime >= max(file.stat().st_mtime for file in sources):
        return jar
    if not shutil.which("mvn"):
        raise UnavailableError("to fetch Debezium there must be mvn")
    words = ["mvn", "-B", "-q", "-f", str(project / "pom.xml"), "package"]
    done = subprocess.run(
        [*words, f"-Ddebezium.version={version}"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=_BUILD_SECONDS,
    )
    if done.returncode or not jar.is_file():
        said = [line for line in done.stdout.splitlines() if "ERROR" in line]
        raise UnavailableError(f"mvn can't get Debezium {version}: {said[0] if said else ''}")
    return jar


class Engines:
    """Engines of one version, by their names."""

    def __init__(self, process: subprocess.Popen[bytes], folder: Path, log: Path) -> None:
        self._process = process
        self._folder = folder
        self._read: dict[str, tuple[int, list[Sent]]] = {}
        self.log = log

    def sent(self, name: str) -> list[Sent]:
        """Return what an engine has sent so far."""
        start, found = self._read.get(name, (0, []))
        file = self._folder / f"{name}.messages"
        if file.exists():
            with file.open("rb") as stream:
                stream.seek(start)
                new = stream.read()
            whole = new[: new.rfind(b"\n") + 1]
            found = [*found, *map(_sent, whole.splitlines())]
            self._read[name] = start + len(whole), found
        return found

    def wait(self, name: str, is_there: Callable[[list[Sent]], bool], seconds: float) -> None:
        """Wait for something that an engine sends. Raises: TimeoutError, RuntimeError."""
        end = time.monotonic() + seconds
        while not is_there(self.sent(name)):
            if self._process.poll() is not None:
                raise RuntimeError(f"Debezium ended: {self._said()}")
            if time.monotonic() > end:
                raise TimeoutError(f"{name} did not send all in time: {self._said()}")
            time.sleep(0.2)

    def _said(self) -> str:
        """Return the first lines of the log."""
        lines = self.log.read_text(errors="replace").splitlines()
        return " / ".join(lines[:3])[:600] or "its log is empty"


def _sent(line: bytes) -> Sent:
    topic, *parts = line.split(b"\t")
    key, value, bare_key, bare_value = (
        None if part == b"-" else base64.b64decode(part, validate=True) for part in parts
    )
    return Sent(
        base64.b64decode(topic).decode(),
        KafkaMessage(key, value),
        KafkaMessage(bare_key, bare_value),
    )


@contextlib.contextmanager
def running(
    jar: Path, server: Postgres, engines: Mapping[str, Mapping[str, str]], folder: Path
) -> Iterator[Engines]:
    """Run an engine for each name, with settings beside those that all have.

    Raises: UnavailableError, if there is no Java.
    """
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if not java:
        raise UnavailableError("java is not on the PATH, and JAVA_HOME is not set")
    for name, settings in engines.items():
        lines = {**_properties(server, name), **settings}
        text = "".join(f"{key}={value}\n" for key, value in lines.items())
        (folder / f"{name}.properties").write_text(text, encoding="utf-8")
    log = folder / "debezium.log"
    # Without compiling twice it is up sooner, and that is most of its work here.
    words = [java, "-Xmx500m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Duser.timezone=UTC"]
    words += ["-Dorg.slf4j.simpleLogger.defaultLogLevel=error"]
    with log.open("wb") as out:
        process = subprocess.Popen(
            [*words, "-jar", str(jar), str(folder), *engines],
            stdin=subprocess.PIPE,
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    try:
        yield Engines(process, folder, log)
    finally:
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _properties(server: Postgres, name: str) -> dict[str, str]:
    identifier = f"engine_{name}".replace("-", "_").replace(".", "_")
    return {
        "name": name,
        "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
        "offset.storage": "org.apache.kafka.connect.storage.MemoryOffsetBackingStore",
        "offset.flush.interval.ms": "1000",
        "database.hostname": "127.0.0.1",
        "database.port": str(server.port),
        "database.user": server.user,
        "database.password": server.password,
        "database.dbname": server.database,
        "topic.prefix": PREFIX,
        "plugin.name": "pgoutput",
        "slot.name": identifier,
        "publication.name": identifier,
        "publication.autocreate.mode": "all_tables",
        # Without a difference the second engine waits a minute for the first one's place in JMX.
        "custom.metric.tags": f"engine={name}",
    }
