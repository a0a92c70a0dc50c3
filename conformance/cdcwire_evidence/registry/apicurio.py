"""Apicurio Registry as a real registry on loopback: fetched once, started, stopped.

It is a program of Java 17 that keeps all in memory, and speaks Confluent's interface too. The
archive comes from a Maven repository and is unpacked in the cache.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tarfile
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from cdcwire.extras import load_extra
from cdcwire_conformance.maven import Artifact, FetchError, cache_folder, fetch_all
from cdcwire_evidence.loopback import free_port

VERSION = "3.0.9"
_ARCHIVE = Artifact(
    "io.apicurio",
    "apicurio-registry-app",
    VERSION,
    "2b28181501a20cbf6efcd77f9b7153908fc01f3d3a7c32024c0bd9e1b04c8a43",
    "tar.gz",
    "all",
)
_JAR = f"{_ARCHIVE.name}-{VERSION}-runner.jar"
_ROOT = "/apis/ccompat/v7"
_START_SECONDS = 120.0
_STOP_SECONDS = 20.0


class UnavailableError(Exception):
    """The registry can't be had or run here; the text says what is missing."""


def fetch() -> Path:
    """Return the program's jar, fetched if it is not there. Raises: UnavailableError."""
    folder = cache_folder() / f"apicurio-registry-{VERSION}"
    jar = folder / _JAR
    if jar.is_file():
        return jar
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as made:
        try:
            (archive,) = fetch_all([_ARCHIVE], Path(made))
        except FetchError as error:
            raise UnavailableError(str(error)) from error
        unpacked = Path(made) / "unpacked"
        with tarfile.open(archive) as tar:
            if hasattr(tarfile, "data_filter"):
                tar.extractall(unpacked, filter="data")
            else:
                tar.extractall(unpacked)  # its sum is known
        with contextlib.suppress(OSError):  # another process was faster
            unpacked.rename(folder)
    if not jar.is_file():
        raise UnavailableError(f"{folder} is not complete: remove it and try again")
    return jar


def _java() -> str:
    home = os.environ.get("JAVA_HOME")
    found = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if not found:
        raise UnavailableError("java is not on the PATH, and JAVA_HOME is not set")
    return found


class Apicurio:
    """One registry on a port of loopback. What it holds is gone when it stops."""

    def __init__(self, jar: Path, log: Path, port: int | None = None) -> None:
        self.jar = jar
        self.log = log
        self.port = free_port() if port is None else port
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """The address of Confluent's interface."""
        return f"http://127.0.0.1:{self.port}{_ROOT}"

    def start(self) -> None:
        """Start it, and come back at once; ``wait`` waits. Raises: UnavailableError."""
        words = [
            *(_java(), "-Xmx400m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
            *("-Dquarkus.http.host=127.0.0.1", f"-Dquarkus.http.port={self.port}"),
            *("-jar", str(self.jar)),
        ]
        with self.log.open("ab") as out:
            self._process = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT
            )

    def wait(self) -> None:
        """Wait until it answers. Raises: UnavailableError if it ends, or takes too long."""
        urllib3 = load_extra("urllib3", "registry", "waiting for Apicurio Registry")
        errors = load_extra("urllib3.exceptions", "registry", "waiting for Apicurio Registry")
        end = time.monotonic() + _START_SECONDS
        with urllib3.PoolManager(retries=False, timeout=5.0) as pool:
            while time.monotonic() < end:
                if self._process is None or self._process.poll() is not None:
                    raise UnavailableError(f"Apicurio Registry ended; its log is {self.log}")
                with contextlib.suppress(errors.HTTPError):
                    if pool.request("GET", f"{self.url}/subjects").status == 200:
                        return
                time.sleep(0.1)
        self.stop()
        problem = f"Apicurio Registry did not start in {_START_SECONDS:g} s"
        raise UnavailableError(f"{problem}; its log is {self.log}")

    def kill(self) -> None:
        """End it at once, as a machine that fails does."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def stop(self) -> None:
        """End it in order, and at once if that takes too long."""
        if self._process is not None:
            self._process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_STOP_SECONDS)
            self.kill()


@contextlib.contextmanager
def running(folder: Path) -> Iterator[Apicurio]:
    """Give a registry that answers; its log is in a folder. Raises: UnavailableError."""
    registry = Apicurio(fetch(), folder / "apicurio.log")
    try:
        registry.start()
        registry.wait()
        yield registry
    finally:
        registry.stop()
