"""A real Maxwell over the binlog of a real MariaDB: recorded once for all tests here."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import pytest

from cdcwire_evidence import mariadb, maxwell
from cdcwire_evidence.registry.apicurio import UnavailableError

HERE = Path(__file__).parent
_LAST = b"the end"  # in the last row of the feed
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
    classes = maxwell.fetch(folder)
    options = maxwell.SERVER_OPTIONS
    with mariadb.running(folder, options) as server, contextlib.ExitStack() as maxwells:
        maxwell.add_user(server)
        for number, (name, given) in enumerate(SETTINGS.items()):
            file = folder / f"{name}.json"
            maxwells.enter_context(maxwell.running(classes, server, number, given, file))
        server.run((HERE / "feed.sql").read_bytes())
        found: dict[str, list[bytes]] = {}
        for name in SETTINGS:
            file = folder / f"{name}.json"
            mariadb.wait_for(file, _LAST)
            found[name] = file.read_bytes().splitlines()
        return found


@pytest.fixture(params=list(SETTINGS))
def messages(request: pytest.FixtureRequest, recording: dict[str, list[bytes]]) -> list[bytes]:
    """The messages of one setting."""
    return recording[str(request.param)]
