"""Debezium without Kafka, on a database that was started here: what it would send.

The program is ``adapters/debezium``; Maven builds it once for each connector and version. Several
engines run in one process, each with its settings.
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
from cdcwire_evidence.registry.apicurio import UnavailableError

_STOP_SECONDS = 60.0
_BUILD_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class Sent:
    """A message of Debezium's, as JsonConverter writes it with schemas and without.

    ``avro``: as Apicurio's converter writes it; None without a registry, or if Avro can't have one
    of its names.
    """

    topic: str
    message: KafkaMessage
    bare: KafkaMessage
    avro: KafkaMessage | None = None


@dataclass(frozen=True, slots=True, order=True)
class Connector:
    """A connector as Maven names it (postgres, mysql, mariadb), and its version."""

    name: str
    version: str

    def __str__(self) -> str:
        return f"{self.name}-{self.version}"


def build(project: Path, connector: Connector, program: str = "run-debezium") -> Path:
    """Return the program of a connector, built if it is missing or older than its source.

    Raises: UnavailableError.
    """
    jar = project / "build" / str(connector) / f"{program}.jar"
    sources = (project / "pom.xml", *project.rglob("*.java"))
    if jar.is_file() and jar.stat().st_mtime >= max(file.stat().st_mtime for file in sources):
        return jar
    if not shutil.which("mvn"):
        raise UnavailableError("to fetch Debezium there must be mvn")
    words = ["mvn", "-B", "-q", "-f", str(project / "pom.xml"), "package"]
    words += [f"-Ddebezium.version={connector.version}", f"-Ddebezium.connector={connector.name}"]
    done = subprocess.run(
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=_BUILD_SECONDS,
    )
    if done.returncode or not jar.is_file():
        said = [line for line in done.stdout.splitlines() if "ERROR" in line]
        raise UnavailableError(f"mvn can't get Debezium {connector}: {said[0] if said else ''}")
    return jar


def java() -> str:
    """Return the path of Java. Raises: UnavailableError."""
    home = os.environ.get("JAVA_HOME")
    found = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if not found:
        raise UnavailableError("java is not on the PATH, and JAVA_HOME is not set")
    return found


class Engines:
    """Engines of one connector, by their names."""

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
            found = [*found, *map(sent_message, whole.splitlines())]
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


def sent_message(line: bytes) -> Sent:
    """Return a message from a line of the program."""
    topic, *parts = line.split(b"\t")
    messages = [_message(*pair) for pair in zip(parts[::2], parts[1::2], strict=True)]
    whole, bare, *avro = messages
    assert whole is not None
    assert bare is not None
    return Sent(base64.b64decode(topic).decode(), whole, bare, *avro)


def _message(*parts: bytes) -> KafkaMessage | None:
    """Return a message of two fields of a line; None if it could not be written."""
    if b"!" in parts:
        return None
    key, value = (None if part == b"-" else base64.b64decode(part, validate=True) for part in parts)
    return KafkaMessage(key, value)


@contextlib.contextmanager
def running(
    jar: Path, engines: Mapping[str, Mapping[str, str]], folder: Path, registry: str = ""
) -> Iterator[Engines]:
    """Run an engine for each name, with its settings and those that all have.

    ``registry``: the address of a registry for Avro. Raises: UnavailableError, if there is no Java.
    """
    jvm = java()
    for name, settings in engines.items():
        lines = {**_properties(name), **settings}
        text = "".join(f"{key}={value}\n" for key, value in lines.items())
        (folder / f"{name}.properties").write_text(text, encoding="utf-8")
    log = folder / "debezium.log"
    # Without compiling twice it is up sooner, and that is most of its work here.
    words = [jvm, "-Xmx500m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Duser.timezone=UTC"]
    words += ["-Dorg.slf4j.simpleLogger.defaultLogLevel=error"]
    words += [f"-Dregistry={registry}"] if registry else []
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


def _properties(name: str) -> dict[str, str]:
    return {
        "name": name,
        "offset.storage": "org.apache.kafka.connect.storage.MemoryOffsetBackingStore",
        "offset.flush.interval.ms": "1000",
        "database.hostname": "127.0.0.1",
        # Without a difference the second engine waits a minute for the first one's place in JMX.
        "custom.metric.tags": f"engine={name}",
    }
