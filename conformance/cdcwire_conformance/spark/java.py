"""The Java process of a Spark session that this process starts, and the directories that it uses.

Spark's files and Java's temporary ones are in these directories, so that nothing is left of them,
however Java ends. The output of Java and of the workers goes into a file there.
"""

from __future__ import annotations

import contextlib
import logging
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from socketserver import BaseServer
from typing import Any

_OPTIONS = "spark.driver.defaultJavaOptions"
_SECONDS_TO_END = 10.0
_SECONDS_AFTER_KILL = 5.0


@dataclass(eq=False, slots=True)
class JavaProcess:
    """Java, and its directories. ``process``: None before it has started.

    ``folders``: temporary, one in each directory where Spark is to write; the first one is Java's.
    ``client``: of py4j, which sends to Java. ``listeners``: servers of this process that Java sends
    to.
    """

    folders: list[Path] = field(default_factory=list)
    process: subprocess.Popen[bytes] | None = None
    client: Any = None
    listeners: list[BaseServer] = field(default_factory=list)

    @property
    def folder(self) -> Path:
        """The temporary directory of Java."""
        return self.folders[0]

    @property
    def local_dirs(self) -> str:
        """The directories in the form of ``spark.local.dir``."""
        return ",".join(map(str, self.folders))

    @property
    def log(self) -> Path:
        """The file with the output of Java and of the workers."""
        return self.folder / "spark.log"

    def with_folder(self, settings: Mapping[str, str]) -> dict[str, str]:
        """Return Spark's settings with Java's temporary directory."""
        # Else a Java that was killed leaves the file /tmp/hsperfdata_USER/PID.
        options = f'"-Djava.io.tmpdir={self.folder}" -XX:-UsePerfData'
        return {**settings, _OPTIONS: f"{settings.get(_OPTIONS, '')} {options}".strip()}

    def end(self, seconds: float = _SECONDS_TO_END) -> None:
        """End Java and remove the directories. After this many seconds Java is killed."""
        if self.client is not None:
            self.client.is_connected = False  # so that nothing more is sent for objects that go
        for server in self.listeners:  # which would print that Java has gone
            server.handle_error = _ignore  # type: ignore[assignment, method-assign]  # of this one
        process, self.process = self.process, None
        if process is not None:
            _end(process, seconds)
        for folder in self.folders:
            shutil.rmtree(folder, ignore_errors=True)


def _ignore(*_: object) -> None:
    """Print nothing."""


def _end(process: subprocess.Popen[bytes], seconds: float) -> None:
    if process.stdin is not None:  # Java ends when it can't read from here any more
        with contextlib.suppress(OSError):
            process.stdin.close()
    try:
        if seconds > 0:
            process.wait(seconds)
    except subprocess.TimeoutExpired:
        pass
    if process.poll() is None:
        process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_SECONDS_AFTER_KILL)


_started: list[JavaProcess] = []


def start_java(local_dirs: Sequence[str] = ()) -> JavaProcess:
    """Return a new process that is to start; ``end_java`` ends it.

    ``local_dirs``: directories for Spark's files, made if missing. The default is the system's.
    Raises: OSError.
    """
    java = JavaProcess()
    _started.append(java)
    for parent in local_dirs or (tempfile.gettempdir(),):
        Path(parent).mkdir(parents=True, exist_ok=True)
        java.folders.append(Path(tempfile.mkdtemp(prefix="cdcwire-spark-", dir=parent)).absolute())
    return java


def end_java(seconds: float = _SECONDS_TO_END) -> None:
    """End each Java process that was started here."""
    while _started:
        _started.pop().end(seconds)


def end_java_at_exit() -> None:
    """End each Java process that was started here, without a line of py4j's about it."""
    logging.getLogger().addHandler(logging.NullHandler())
    end_java()


@contextlib.contextmanager
def java_ends_on_interrupt() -> Iterator[None]:
    """End Java at once if the block is interrupted."""
    try:
        yield
    except KeyboardInterrupt:
        end_java(0)
        raise
