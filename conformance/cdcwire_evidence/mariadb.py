"""A MariaDB server on loopback, from the programs of the operating system."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cdcwire_evidence.loopback import free_port, unprivileged_user
from cdcwire_evidence.registry.apicurio import UnavailableError

_SECONDS = 120.0
_STOP_SECONDS = 30.0
_UTF8 = ("--default-character-set=utf8mb4",)
_NEEDED = ("mariadbd", "mariadb", "mariadb-dump", "mariadb-install-db")


@dataclass(frozen=True, slots=True)
class MariaDB:
    """A server. ``client``: the command of its client, as root."""

    port: int
    client: tuple[str, ...]

    def run(self, sql: str | bytes) -> None:
        """Run statements. Raises: UnavailableError for one that fails."""
        given = sql.encode() if isinstance(sql, str) else sql
        run_program((*self.client, *_UTF8), given)

    def rows(self, schema: str, table: str) -> list[dict[str, str | None]]:
        """Return the rows of a table, each value as MariaDB's text of it; TIMESTAMP is in UTC.

        Bytes, bits and shapes are in hexadecimal, a shape with its SRID before it. A FLOAT has the
        digits of its DOUBLE. Raises: UnavailableError.
        """
        listed = self._lines(
            "SELECT JSON_ARRAY(COLUMN_NAME, DATA_TYPE) FROM information_schema.columns"
            f" WHERE TABLE_SCHEMA = '{schema}' AND TABLE_NAME = '{table}'"
        )
        members = ", ".join(f"'{name}', {_text_of(name, kind)}" for name, kind in listed)
        query = f"SELECT JSON_OBJECT({members}) FROM `{schema}`.`{table}`"
        return self._lines(f"SET time_zone = '+00:00'; {query}")

    def definitions(self, schema: str) -> str:
        """Return the CREATE TABLE of all tables, as MariaDB writes them."""
        dump = ("mariadb-dump", *self.client[1:], "--no-data", "--databases", schema)
        return run_program(dump).decode()

    def _lines(self, query: str) -> list[Any]:
        given = (*self.client, *_UTF8, "--skip-column-names", "--batch", "--raw")
        said = run_program(given, query.encode())
        return [json.loads(line) for line in said.splitlines()]


@contextlib.contextmanager
def running(folder: Path, options: Sequence[str] = ()) -> Iterator[MariaDB]:
    """Give a server with its log in ``folder``, and its data in a folder that goes with it.

    It does not run as root: root starts it as the user ``mysql``, or ``nobody``.
    Raises: UnavailableError.
    """
    for tool in _NEEDED:
        if shutil.which(tool) is None:
            raise UnavailableError(f"{tool} is not installed (apt-get install mariadb-server)")
    log, port, owner = folder / "server.log", free_port(), unprivileged_user("mysql")
    # Not below a folder that only root may enter.
    with tempfile.TemporaryDirectory(prefix="cdcwire-mariadb-") as made:
        if owner is not None:
            shutil.chown(made, owner)
        socket = f"{made}/socket"
        user = () if owner is None else (f"--user={owner}",)
        data = ("--no-defaults", f"--datadir={made}/data", f"--tmpdir={made}", *user)
        run_program(("mariadb-install-db", *data, "--auth-root-authentication-method=normal"))
        where = (f"--socket={socket}", f"--port={port}", "--bind-address=127.0.0.1")
        settings = ("--character-set-server=utf8mb4", *options)
        with ended(("mariadbd", *data, *where, *settings), log):
            wait_for(log, b"ready for connections")
            yield MariaDB(port, ("mariadb", "--no-defaults", f"--socket={socket}", "--user=root"))


@contextlib.contextmanager
def ended(command: Sequence[str], log: Path) -> Iterator[None]:
    """Run a program that ends with the block, with its output in a file."""
    with log.open("wb") as file:
        process = subprocess.Popen(command, stdout=file, stderr=file)
    try:
        yield
    finally:
        process.terminate()
        process.wait(_STOP_SECONDS)


def run_program(command: Sequence[str], given: bytes = b"") -> bytes:
    """Return what a program prints until it ends. Raises: UnavailableError if it fails."""
    done = subprocess.run(command, input=given, capture_output=True, check=False)
    if done.returncode:
        said = done.stderr.decode(errors="replace")[-400:]
        raise UnavailableError(f"{command[0]} failed: {said}")
    return done.stdout


def _text_of(column: str, kind: str) -> str:
    """Return the expression for the text of a column's value."""
    match kind:
        case "binary" | "varbinary" | "blob" | "longblob" | "bit":
            return f"HEX(`{column}`)"
        case "geometry" | "point" | "linestring":
            return f"CONCAT(ST_SRID(`{column}`), ' ', HEX(ST_AsWKB(`{column}`)))"
        case "float":
            return f"CAST(CAST(`{column}` AS DOUBLE) AS CHAR)"
        case _:
            return f"CAST(`{column}` AS CHAR)"


def wait_for(file: Path, text: bytes) -> None:
    """Wait until a file contains a text. Raises: UnavailableError."""
    end = time.monotonic() + _SECONDS
    while not file.exists() or text not in file.read_bytes():
        if time.monotonic() > end:
            raise UnavailableError(f"{file} does not have {text!r} after {_SECONDS:.0f} s")
        time.sleep(0.2)
