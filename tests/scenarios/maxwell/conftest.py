"""A real Maxwell over the binlog of a real MariaDB: recorded once for all tests here."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from cdcwire_conformance.maven import cache_folder
from cdcwire_evidence.loopback import free_port

HERE = Path(__file__).parent
VERSION = "1.22.6"  # the latest on Maven Central
_POM = f"""<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>cdcwire</groupId><artifactId>maxwell</artifactId><version>1</version><dependencies>
<dependency><groupId>com.zendesk</groupId><artifactId>maxwell</artifactId>
<version>{VERSION}</version></dependency></dependencies></project>
"""
# Maxwell asks whether a value is an instance of this class, which Java 15 removed.
_STUB = "package jdk.nashorn.api.scripting; public class ScriptObjectMirror { }\n"
_MAXWELL = "com.zendesk.maxwell.Maxwell"
_LAST = b"the end"  # in the last row of the feed
_SECONDS = 120.0
SETTINGS: dict[str, tuple[str, ...]] = {
    "default": (),
    "full": (
        "--output_ddl=true",
        "--output_binlog_position=true",
        "--output_server_id=true",
        "--output_thread_id=true",
        "--output_schema_id=true",
        "--output_primary_keys=true",
        "--output_primary_key_columns=true",
    ),
    "bare": ("--output_commit_info=false", "--output_nulls=false"),
}


class UnavailableError(Exception):
    """Maxwell or MariaDB cannot be run. The text says what is missing."""


@pytest.fixture(scope="session")
def recording(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[bytes]]:
    """The messages that Maxwell wrote under each setting."""
    try:
        return _record(tmp_path_factory.mktemp("maxwell"))
    except UnavailableError as error:
        if os.environ.get("CDCWIRE_SCENARIOS") == "required":
            raise
        pytest.skip(str(error))


def _record(folder: Path) -> dict[str, list[bytes]]:
    classes = _classes(folder)
    port = free_port()
    with _Processes() as processes:
        client = _mariadb(folder, port, processes)
        for name, options in SETTINGS.items():
            command = (
                *("java", "-Xmx256m", "-cp", classes, _MAXWELL, "--producer=file"),
                *("--user=maxwell", "--password=maxwell", "--host=127.0.0.1", f"--port={port}"),
                *(f"--client_id={name}", f"--replica_server_id={7000 + len(processes.running)}"),
                *(f"--output_file={folder / name}.json", "--bootstrapper=none", *options),
            )
            log = folder / f"{name}.log"
            processes.start(command, log)
            _wait(log, b"Binlog connected")
        _run((*client, "--default-character-set=utf8mb4"), (HERE / "feed.sql").read_bytes())
        found: dict[str, list[bytes]] = {}
        for name in SETTINGS:
            file = folder / f"{name}.json"
            _wait(file, _LAST)
            found[name] = file.read_bytes().splitlines()
        return found


def _classes(folder: Path) -> str:
    """Return the class path: Maxwell with its libraries, and the class that Java removed."""
    for tool in ("mvn", "javac", "mariadbd", "mariadb", "mariadb-install-db"):
        if shutil.which(tool) is None:
            raise UnavailableError(
                f"{tool} is not installed (apt-get install mariadb-server maven)"
            )
    libraries = cache_folder() / f"maxwell-{VERSION}"
    if not (libraries / f"maxwell-{VERSION}.jar").is_file():
        (folder / "pom.xml").write_text(_POM)
        copy = ("dependency:copy-dependencies", f"-DoutputDirectory={libraries}")
        _run(("mvn", "-q", "-B", "-f", str(folder / "pom.xml"), *copy))
    stub = folder / "stub" / "ScriptObjectMirror.java"
    stub.parent.mkdir()
    stub.write_text(_STUB)
    _run(("javac", "-d", str(folder / "classes"), str(stub)))
    return os.pathsep.join((str(libraries / "*"), str(folder / "classes")))


def _mariadb(folder: Path, port: int, processes: _Processes) -> tuple[str, ...]:
    """Start a server with a binlog; return the command of its client."""
    data, socket = folder / "data", folder / "socket"
    made = ("--no-defaults", f"--datadir={data}", "--auth-root-authentication-method=normal")
    _run(("mariadb-install-db", *made))
    # Without old_mode Maxwell's own tables have a character set that it does not know.
    options = ("--log-bin=master", "--binlog-format=ROW", "--old-mode=", "--server-id=23042")
    where = (
        f"--datadir={data}",
        f"--socket={socket}",
        f"--port={port}",
        "--bind-address=127.0.0.1",
    )
    charset = ("--character-set-server=utf8mb4", "--user=root", "--binlog-annotate-row-events=OFF")
    processes.start(
        ("mariadbd", "--no-defaults", *where, *options, *charset), folder / "server.log"
    )
    _wait(folder / "server.log", b"ready for connections")
    client = ("mariadb", "--no-defaults", f"--socket={socket}", "--user=root")
    grants = "create user maxwell@'%' identified by 'maxwell'; grant all on *.* to maxwell@'%'"
    _run((*client, "-e", grants.replace("%", "127.0.0.1")))
    return client


def _run(command: Sequence[str], given: bytes = b"") -> None:
    done = subprocess.run(command, input=given, capture_output=True, check=False)
    if done.returncode:
        raise UnavailableError(
            f"{command[0]} failed: {done.stderr.decode(errors='replace')[-400:]}"
        )


def _wait(file: Path, text: bytes) -> None:
    """Wait until a file contains a text. Raises: UnavailableError."""
    end = time.monotonic() + _SECONDS
    while not file.exists() or text not in file.read_bytes():
        if time.monotonic() > end:
            raise UnavailableError(f"{file} does not have {text!r} after {_SECONDS:.0f} s")
        time.sleep(0.2)


class _Processes:
    """Processes that end with the block, the last one first."""

    def __init__(self) -> None:
        self.running: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> _Processes:
        return self

    def __exit__(self, *error: object) -> None:
        for process in reversed(self.running):
            process.terminate()
        for process in self.running:
            process.wait(30)

    def start(self, command: Sequence[str], log: Path) -> None:
        with log.open("wb") as file:
            self.running.append(subprocess.Popen(command, stdout=file, stderr=file))


@pytest.fixture(params=list(SETTINGS))
def messages(request: pytest.FixtureRequest, recording: dict[str, list[bytes]]) -> list[bytes]:
    """The messages of one setting."""
    return recording[str(request.param)]
