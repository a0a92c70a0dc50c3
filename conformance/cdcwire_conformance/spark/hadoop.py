"""A store on any file system that Spark's Hadoop knows, such as a bucket by ``s3a://``.

Only Java reaches it. The driver lists the files and reads small ones by Hadoop's ``FileSystem``;
Spark brings the bytes of the others to the workers.
"""

from __future__ import annotations

import errno
import io
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO

from cdcwire.files.stores import (
    Listed,
    StoreError,
    scheme_of,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_READ_AT_ONCE = 8 << 20
_SECONDS = 15  # of the first look; later the user's settings say how long

_MISSING_CLASSES = frozenset({"ClassNotFoundException", "NoClassDefFoundError"})
_SILENT = frozenset(
    {
        "ApiCallAttemptTimeoutException",
        "ApiCallTimeoutException",
        "ConnectException",
        "ConnectTimeoutException",
        "ConnectionClosedException",
        "EOFException",
        "HttpHostConnectException",
        "NoHttpResponseException",
        "NoRouteToHostException",
        "SocketException",
        "SocketTimeoutException",
        "UnknownHostException",
        "UnresolvedAddressException",
    }
)
_REFUSED = frozenset({"AccessDeniedException", "AccessControlException"})
_KEYLESS = frozenset({"NoAuthWithAWSException", "CredentialInitializationException"})
# Settings of the first look, where the user has not set them.
_BOUNDED = {
    "fs.s3a.attempts.maximum": "1",
    "fs.s3a.retry.limit": "0",
    "fs.s3a.retry.interval": "200ms",
    "fs.s3a.retry.throttle.limit": "3",
    "fs.s3a.connection.establish.timeout": "5s",
    "fs.s3a.connection.timeout": f"{_SECONDS}s",
    "fs.s3a.connection.request.timeout": f"{_SECONDS}s",  # of a whole request; S3A wants no less
    "fs.azure.io.retry.max.retries": "1",
    "ipc.client.connect.max.retries": "1",
    "ipc.client.connect.max.retries.on.timeouts": "1",
    "ipc.client.connect.timeout": "5000",
}


class HadoopStore:
    """A directory on a file system that Hadoop knows, as the driver's Java reads it."""

    def __init__(self, spark: SparkSession, folder: str) -> None:
        self.url = folder
        self._jvm: Any = spark._jvm
        session: Any = spark._jsparkSession
        self._settings: Any = session.sessionState().newHadoopConf()
        with self._errors():
            self._path = self._jvm.org.apache.hadoop.fs.Path(folder)
        self.root = folder.rstrip("/")

    def connect(self) -> None:
        """Check that the directory exists, with few retries, so that errors are known soon."""
        settings = self._jvm.org.apache.hadoop.conf.Configuration(self._settings)
        for name, value in _BOUNDED.items():
            sources = settings.getPropertySources(name)
            if sources is None or all(each.endswith("-default.xml") for each in sources):
                settings.set(name, value)
        with self._errors():
            system = self._jvm.org.apache.hadoop.fs.FileSystem.newInstance(
                self._path.toUri(), settings
            )
            try:
                self.root = system.makeQualified(self._path).toString().rstrip("/")
                system.listStatusIterator(self._path).hasNext()
            finally:
                system.close()

    def list(self, under: str = "", *, recursive: bool = True) -> Iterator[Listed]:
        """Yield all files, or those in a directory; in no order. Raises: StoreError."""
        path = self._full(under) if under else self._path
        with self._errors():
            system = self._system(path)
            if under and not system.exists(path):
                return
            found = system.listFiles(path, True) if recursive else system.listStatusIterator(path)
            while found.hasNext():
                each = found.next()
                if each.isFile():
                    yield self._listed(each)

    def look(self, path: str) -> Listed | None:
        """Return the current file; None for none. Raises: StoreError."""
        full = self._full(path)
        with self._errors(path):
            system = self._system(full)
            return self._listed(system.getFileStatus(full)) if system.exists(full) else None

    def read(self, path: str, most: int | None = None) -> bytes:
        """Return a file's bytes, ``most`` at most. Raises: FileNotFoundError; StoreError."""
        with self.open(path) as file:
            return file.read(-1 if most is None else most)

    def open(self, path: str) -> BinaryIO:
        """Open a file, to be read and sought. Raises: FileNotFoundError; StoreError."""
        full = self._full(path)
        with self._errors(path):
            system = self._system(full)
            if not system.exists(full):
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(full))
            stream = system.open(full)
        return io.BufferedReader(_JavaStream(stream, lambda: self._errors(path)), _READ_AT_ONCE)

    def sum_of(self, path: str) -> tuple[int, str]:
        """Return the size and the SHA-256 of a file as it is stored. Raises: StoreError.

        Java reads the file, which does not come to Python.
        """
        full = self._full(path)
        with self._errors(path):
            system = self._system(full)
            stream = system.open(full)
            try:
                found = self._jvm.org.apache.commons.codec.digest.DigestUtils.sha256Hex(stream)
            finally:
                stream.close()
            return int(system.getFileStatus(full).getLen()), str(found)

    def put(self, path: str, value: bytes) -> None:
        """Write a file whole, over an existing one. Raises: StoreError."""
        full = self._full(path)
        with self._errors(path):
            stream = self._system(full).create(full, True)
            stream.write(value)
            stream.close()

    def _full(self, path: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(f"{self.root}/{path}")

    def _system(self, path: Any) -> Any:
        return path.getFileSystem(self._settings)

    def _listed(self, status: Any) -> Listed:
        path = status.getPath().toString().removeprefix(f"{self.root}/")
        return Listed(path, status.getLen(), str(status.getModificationTime()))

    @contextmanager
    def _errors(self, path: str | None = None) -> Iterator[None]:
        from py4j.protocol import Py4JJavaError

        try:
            yield
        except Py4JJavaError as error:
            where = self.url if path is None else f"{self.root}/{path}"
            raise StoreError(f"{where}: {self._problem(error)}") from error

    def _problem(self, error: Any) -> str:
        """Return the problem, from the chain of exceptions that Java threw."""
        kinds: list[str] = []
        said: list[str] = []
        thrown = error.java_exception
        while thrown is not None and len(kinds) < 20:
            kinds.append(str(thrown.getClass().getSimpleName()))
            said.append(" ".join(str(thrown.getMessage() or "").split()))
            thrown = thrown.getCause()
        known, text = set(kinds), " ".join(said)
        scheme = scheme_of(self.url)
        if known & _MISSING_CLASSES:
            return f"Spark has not all classes of {scheme}://: {how_to_have(scheme)}"
        if "UnsupportedFileSystemException" in known:
            return f"Spark's Hadoop knows no {scheme}://: {how_to_have(scheme)}"
        if "UnknownStoreException" in known or "NoSuchBucket" in text:
            return "there is no such bucket"
        if known & _KEYLESS or "Unable to load credentials" in text:
            return f"there are no keys for it: {_KEYS}"
        if known & _REFUSED or "Status Code: 403" in text or "Status Code: 401" in text:
            return f"the store refuses it: look at the rights and at the keys ({_KEYS})"
        if "FileNotFoundException" in known:
            return "there is nothing"
        if known & _SILENT:
            bucket = self._path.toUri().getHost()
            own = self._settings.get(f"fs.s3a.bucket.{bucket}.endpoint")
            endpoint = _without_user(own or self._settings.get("fs.s3a.endpoint") or "")
            where = f"at {endpoint}" if scheme == "s3a" and endpoint else "there"
            return f"nobody answers {where}: {_short(said[-1] or kinds[-1])}"
        return f"{kinds[-1]}: {_short(said[-1] or said[0])}"


_KEYS = (
    "spark.hadoop.fs.s3a.access.key and .secret.key, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
)


def how_to_have(scheme: str) -> str:
    """Return what to do where the jars of a file system are missing."""
    if scheme == "s3a":
        return 'start the session with {"spark.jars": s3a_jars()}, or give your own by spark.jars'
    return "give its jars by spark.jars or spark.jars.packages"


def _without_user(url: str) -> str:
    return re.sub(r"//[^/@]*@", "//", url)


def _short(text: str) -> str:
    return f"{_without_user(text):.200}"


class _JavaStream(io.RawIOBase):
    """A stream of Java's, read in large pieces."""

    def __init__(self, stream: Any, errors: Callable[[], Any]) -> None:
        self._stream = stream
        self._errors = errors

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        if whence != os.SEEK_SET:
            raise io.UnsupportedOperation("only from the beginning")
        with self._errors():
            self._stream.seek(offset)
        return offset

    def tell(self) -> int:
        return int(self._stream.getPos())

    def readinto(self, buffer: Any) -> int:
        with self._errors():
            found = bytes(self._stream.readNBytes(len(buffer)))
        buffer[: len(found)] = found
        return len(found)

    def readall(self) -> bytes:
        found = []
        with self._errors():
            while piece := bytes(self._stream.readNBytes(_READ_AT_ONCE)):
                found.append(piece)
        return b"".join(found)

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
        super().close()
