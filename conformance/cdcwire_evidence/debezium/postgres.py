"""A PostgreSQL of our own on loopback, with logical decoding; gone without trace when it ends.

The programs are those of the operating system's package. The server does not run as root: root
starts it as the user ``postgres``, or ``nobody``. Data, password and socket are in a folder of its
own, removed at the end.
"""

from __future__ import annotations

import contextlib
import csv
import io
import os
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from cdcwire_evidence.loopback import free_port, unprivileged_user
from cdcwire_evidence.registry.apicurio import UnavailableError

_START_SECONDS = 60.0
_STOP_SECONDS = 30.0
_NEEDED = ("initdb", "postgres", "psql")
_NAME = "cdcwire"  # of the user and the database
# A NULL of the copied rows; no text that is put in equals it.
_NULL = "\\NULL\\"
_SETTINGS = {
    "wal_level": "logical",
    "max_replication_slots": "20",
    "max_wal_senders": "20",
    "listen_addresses": "127.0.0.1",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "fsync": "off",
    "autovacuum": "off",
    "shared_buffers": "32MB",
    "lc_messages": "C",
    "lc_monetary": "C",
}


def find_programs() -> Path:
    """Return the directory of the newest PostgreSQL's programs. Raises: UnavailableError."""
    found = [folder for folder in _folders() if all((folder / n).exists() for n in _NEEDED)]
    if not found:
        raise UnavailableError("PostgreSQL's initdb, postgres and psql are not installed")
    return found[0]


def _folders() -> Iterator[Path]:
    versions = Path("/usr/lib/postgresql").glob("*/bin")
    yield from sorted(versions, key=lambda folder: folder.parent.name.zfill(4), reverse=True)
    program = shutil.which("postgres")
    if program:
        yield Path(program).resolve().parent


class Postgres:
    """One server. ``port`` and ``password`` are what a client needs beside ``cdcwire``."""

    def __init__(self, programs: Path, folder: Path) -> None:
        self.programs = programs
        self.folder = folder
        self.port = free_port()
        self.password = secrets.token_hex(16)
        self.user = self.database = _NAME
        self.log = folder / "postgres.log"
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = unprivileged_user("postgres")

    def start(self) -> None:
        """Make the data and start the server. Raises: UnavailableError."""
        password = self.folder / "password"
        password.write_text(self.password)
        if self._owner is not None:
            shutil.chown(self.folder, self._owner)
            shutil.chown(password, self._owner)
        data = self.folder / "data"
        words = [*("-D", str(data)), *("-U", _NAME), *("-A", "scram-sha-256")]
        words += [*("-E", "UTF8"), "--no-locale", "-N", f"--pwfile={password}"]
        done = subprocess.run(
            [str(self.programs / "initdb"), *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=self.folder,
            env=self._environment(),
            user=self._owner,
            group=self._group(),
            extra_groups=None if self._owner is None else (),
        )
        if done.returncode:
            raise UnavailableError(f"initdb: {done.stdout.strip()[-200:]}")
        settings = {**_SETTINGS, "port": str(self.port), "unix_socket_directories": self.folder}
        options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        with self.log.open("ab") as out:
            self._process = subprocess.Popen(
                [str(self.programs / "postgres"), "-D", str(data), *options],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                cwd=self.folder,
                env=self._environment(),
                user=self._owner,
                group=self._group(),
                extra_groups=None if self._owner is None else (),
            )
        self._wait()
        self.run(f"CREATE DATABASE {_NAME}", "postgres")

    def run(self, sql: str, database: str = _NAME) -> str:
        """Return what psql prints for statements. Raises: ValueError for a statement that fails."""
        done = self._psql(sql, database)
        if done.returncode:
            raise ValueError(done.stderr.decode(errors="replace").strip())
        return done.stdout.decode()

    def rows(self, query: str) -> list[dict[str, str | None]]:
        """Return the rows of a query, each value as PostgreSQL's own text of it."""
        copy = f"COPY ({query}) TO STDOUT WITH (FORMAT csv, HEADER, NULL '{_NULL}')"
        rows = csv.DictReader(io.StringIO(self.run(copy), newline=""))
        return [
            {name: None if text == _NULL else text for name, text in row.items()} for row in rows
        ]

    def stop(self) -> None:
        """End it, and at once if that takes too long."""
        process = self._process
        if process is None:
            return
        process.send_signal(signal.SIGINT)  # "fast": it does not wait for clients
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGQUIT)
            process.wait()
        self._process = None

    def _psql(self, sql: str, database: str) -> subprocess.CompletedProcess[bytes]:
        where = ["-h", "127.0.0.1", "-p", str(self.port), "-U", _NAME, "-d", database]
        return subprocess.run(
            [str(self.programs / "psql"), "-X", "-q", "-v", "ON_ERROR_STOP=1", *where, "-f", "-"],
            input=sql.encode(),
            capture_output=True,
            env={
                **self._environment(),
                "PGPASSWORD": self.password,
                "PGCLIENTENCODING": "UTF8",
                "PGOPTIONS": "-c intervalstyle=iso_8601",
            },
        )

    def _environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH",) if name in os.environ}
        return {**kept, "HOME": str(self.folder), "LC_ALL": "C", "TZ": "UTC"}

    def _group(self) -> int | None:
        return None if self._owner is None else pwd.getpwnam(self._owner).pw_gid

    def _wait(self) -> None:
        end = time.monotonic() + _START_SECONDS
        while time.monotonic() < end:
            if self._process is None or self._process.poll() is not None:
                said = self.log.read_text(errors="replace").strip()[-200:]
                raise UnavailableError(f"PostgreSQL ended: {said}")
            if not self._psql("SELECT 1", "postgres").returncode:
                return
            time.sleep(0.2)
        raise UnavailableError(f"PostgreSQL did not start in {_START_SECONDS:g} s")


@contextlib.contextmanager
def running(extensions: Sequence[str] = ()) -> Iterator[Postgres]:
    """Give a server that answers, with these extensions. Raises: UnavailableError."""
    programs = find_programs()
    # Not below a folder that only root may enter.
    with tempfile.TemporaryDirectory(prefix="cdcwire-postgres-") as made:
        server = Postgres(programs, Path(made))
        try:
            server.start()
            try:
                for name in extensions:
                    server.run(f"CREATE EXTENSION {name}")
            except ValueError as error:
                raise UnavailableError(f"PostgreSQL lacks an extension: {error}") from None
            yield server
        finally:
            server.stop()
