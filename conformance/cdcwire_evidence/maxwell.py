"""Maxwell as a program that reads the binlog of a MariaDB."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from cdcwire_conformance.maven import cache_folder
from cdcwire_evidence.mariadb import MariaDB, ended, run_program, wait_for
from cdcwire_evidence.registry.apicurio import UnavailableError

VERSION = "1.22.6"  # the latest on Maven Central
_POM = f"""<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>cdcwire</groupId><artifactId>maxwell</artifactId><version>1</version><dependencies>
<dependency><groupId>com.zendesk</groupId><artifactId>maxwell</artifactId>
<version>{VERSION}</version></dependency></dependencies></project>
"""
# Maxwell asks whether a value is an instance of this class, which Java 15 removed.
_STUB = "package jdk.nashorn.api.scripting; public class ScriptObjectMirror { }\n"
_MAXWELL = "com.zendesk.maxwell.Maxwell"
_USER = "maxwell"
# What a server needs. Without old_mode Maxwell's own tables have a character set that it does not
# know.
SERVER_OPTIONS = (
    "--log-bin=master",
    "--binlog-format=ROW",
    "--old-mode=",
    "--server-id=23042",
    "--binlog-annotate-row-events=OFF",
)


def fetch(folder: Path) -> str:
    """Return the class path: Maxwell with its libraries, and the class that Java removed.

    Raises: UnavailableError.
    """
    for tool in ("mvn", "javac"):
        if shutil.which(tool) is None:
            raise UnavailableError(f"{tool} is not installed (apt-get install maven)")
    libraries = cache_folder() / f"maxwell-{VERSION}"
    if not (libraries / f"maxwell-{VERSION}.jar").is_file():
        (folder / "pom.xml").write_text(_POM)
        copy = ("dependency:copy-dependencies", f"-DoutputDirectory={libraries}")
        run_program(("mvn", "-q", "-B", "-f", str(folder / "pom.xml"), *copy))
    stub = folder / "stub" / "ScriptObjectMirror.java"
    stub.parent.mkdir()
    stub.write_text(_STUB)
    run_program(("javac", "-d", str(folder / "classes"), str(stub)))
    return os.pathsep.join((str(libraries / "*"), str(folder / "classes")))


def add_user(server: MariaDB) -> None:
    """Make the user that Maxwell connects as."""
    user = f"{_USER}@'127.0.0.1'"
    server.run(f"create user {user} identified by '{_USER}'; grant all on *.* to {user}")


def bootstrap(server: MariaDB, number: int, schema: str, tables: Sequence[str]) -> None:
    """Ask one that listens for all rows of tables."""
    rows = ", ".join(f"('{schema}', '{table}', '{_client(number)}')" for table in tables)
    server.run(
        f"insert into maxwell.bootstrap (database_name, table_name, client_id) values {rows}"
    )


@contextlib.contextmanager
def running(
    classes: str, server: MariaDB, number: int, options: Sequence[str], file: Path
) -> Iterator[None]:
    """Run Maxwell until the block ends; it listens when the block begins.

    ``number``: another one for each that listens to the server. ``file``: gets a line for each
    message. Raises: UnavailableError.
    """
    command = (
        *("java", "-Xmx256m", "-cp", classes, _MAXWELL, "--producer=file"),
        *(f"--user={_USER}", f"--password={_USER}", "--host=127.0.0.1", f"--port={server.port}"),
        *(f"--client_id={_client(number)}", f"--replica_server_id={7001 + number}"),
        *(f"--output_file={file}", "--bootstrapper=sync", *options),
    )
    log = file.with_suffix(".log")
    with ended(command, log):
        wait_for(log, b"Binlog connected")
        yield


def _client(number: int) -> str:
    return f"maxwell{number}"
