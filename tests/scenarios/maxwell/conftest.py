"""A real Maxwell over the binlog of a real MariaDB: recorded once for all tests here."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path

import pytest

from cdcwire_conformance.maven import cache_folder
from cdcwire_evidence.mariadb import ended, run_program, running, wait_for
from cdcwire_evidence.registry.apicurio import UnavailableError

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
# Without old_mode Maxwell's own tables have a character set that it does not know.
_SERVER = (
    "--log-bin=master",
    "--binlog-format=ROW",
    "--old-mode=",
    "--server-id=23042",
    "--binlog-annotate-row-events=OFF",
)
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
    with running(folder, _SERVER) as server, contextlib.ExitStack() as maxwells:
        host = "127.0.0.1"
        server.run(
            f"create user maxwell@'{host}' identified by 'maxwell';"
            f"grant all on *.* to maxwell@'{host}'"
        )
        for number, (name, options) in enumerate(SETTINGS.items()):
            command = (
                *("java", "-Xmx256m", "-cp", classes, _MAXWELL, "--producer=file"),
                *("--user=maxwell", "--password=maxwell", f"--host={host}"),
                *(f"--port={server.port}", f"--client_id={name}"),
                f"--replica_server_id={7001 + number}",
                *(f"--output_file={folder / name}.json", "--bootstrapper=none", *options),
            )
            log = folder / f"{name}.log"
            maxwells.enter_context(ended(command, log))
            wait_for(log, b"Binlog connected")
        server.run((HERE / "feed.sql").read_bytes())
        found: dict[str, list[bytes]] = {}
        for name in SETTINGS:
            file = folder / f"{name}.json"
            wait_for(file, _LAST)
            found[name] = file.read_bytes().splitlines()
        return found


def _classes(folder: Path) -> str:
    """Return the class path: Maxwell with its libraries, and the class that Java removed."""
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


@pytest.fixture(params=list(SETTINGS))
def messages(request: pytest.FixtureRequest, recording: dict[str, list[bytes]]) -> list[bytes]:
    """The messages of one setting."""
    return recording[str(request.param)]
