"""Where a feed's files are: in a directory, or on any file system that Spark's Hadoop knows.

A directory's files are opened by whoever needs them, on the driver or in a worker. Files of other
places, such as a bucket, only Java reaches: the driver lists them and reads small ones by Hadoop's
own ``FileSystem``, and Spark brings the bytes of the others to the workers.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol, TypeAlias

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OpenFile: TypeAlias = Callable[[str], BinaryIO]

MAX_BYTES = (1 << 31) - (1 << 20)  # of a file that Spark brings to a worker whole
_READ_AT_ONCE = 8 << 20
_SECONDS = 15  # of the first look; later the user's settings say how long
_SCHEME = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]+):/")  # Hadoop writes file:/ with one stroke
# What Spark's lists of files leave out, told or not.
_PASSED_OVER = re.compile(r"\.|_(?!.*=)|.*\._COPYING_$")

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
# Of the first look, where the user's settings don't tell them.
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


class SourceError(ValueError):
    """A source is not there, or is none. The text is one line for the user."""


class Files(Protocol):
    """The files under a folder. Names are from it on, with ``/``. Raises: SourceError, in all."""

    @property
    def folder(self) -> str:
        """The folder, as the user named it."""

    @property
    def root(self) -> str:
        """The folder, by a name that is the same everywhere."""

    def top(self) -> dict[str, int]:
        """Return the files right in the folder with their sizes."""

    def everything(self) -> dict[str, int]:
        """Return all files with their sizes, without hidden ones: of names with a dot in front."""

    def read(self, name: str) -> bytes:
        """Return a file's bytes."""

    def open(self, path: str) -> BinaryIO:
        """Open a file by its whole name."""


def is_url(folder: str) -> bool:
    """Return whether a folder is on a file system that only Java reaches."""
    return _SCHEME.match(folder) is not None


def scheme_of(url: str) -> str:
    found = _SCHEME.match(url)
    return found[1].lower() if found else ""


def path_under(root: str, name: str) -> str:
    """Return the whole name of a file."""
    return f"{root}/{name}" if is_url(root) else str(Path(root, name))


def open_here(path: str) -> BinaryIO:
    """Open a file of this machine."""
    return open(path, "rb")


def opener_of(content: bytes | None) -> OpenFile:
    """Return what opens a file whose bytes are here already; None: one of this machine."""
    return open_here if content is None else lambda path: io.BytesIO(content)


class LocalFiles:
    """The files of a directory of this machine."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = str(Path(folder))
        self.root = str(Path(folder).absolute())

    def top(self) -> dict[str, int]:
        if not os.path.isdir(self.root):
            raise SourceError(f"{self.folder}: there is no such directory")
        paths = {name: Path(self.root, name) for name in os.listdir(self.root)}
        return {name: _size(path) for name, path in paths.items() if not path.is_dir()}

    def everything(self) -> dict[str, int]:
        found = {}
        for parent, folders, files in os.walk(self.root):
            folders[:] = [name for name in folders if not name.startswith(".")]
            inside = Path(parent).relative_to(self.root)
            for name in files:
                if not name.startswith("."):
                    found[(inside / name).as_posix()] = _size(Path(parent, name))
        return found

    def read(self, name: str) -> bytes:
        path = path_under(self.root, name)
        try:
            with open_here(path) as file:
                return file.read()
        except OSError as error:
            raise SourceError(f"{path}: can't be read: {error.strerror}") from error

    def open(self, path: str) -> BinaryIO:
        return open_here(path)


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError as error:
        raise SourceError(f"{file}: can't be read: {error.strerror}") from error


def files_at(spark: SparkSession | None, folder: str) -> Files:
    """Return the files of a folder; one that only Java reaches has to answer soon.

    Raises: SourceError in one line: no such place, no right to it, nobody who answers, no jars.
    """
    if not is_url(folder):
        return LocalFiles(folder)
    if spark is None:
        raise SourceError(f"{folder}: only a Spark session reaches it, as with decode_frame")
    files = _JavaFiles(spark, folder)
    files.look()
    return files


class _JavaFiles:
    """The files of a place on a file system that Hadoop knows, as the driver's Java reads them."""

    def __init__(self, spark: SparkSession, folder: str) -> None:
        self.folder = folder
        self._jvm: Any = spark._jvm
        session: Any = spark._jsparkSession
        self._settings: Any = session.sessionState().newHadoopConf()
        with self._told():
            self._path = self._jvm.org.apache.hadoop.fs.Path(folder)
        self.root = folder.rstrip("/")

    def look(self) -> None:
        """See that the place is there, with few retries: what is wrong is known soon."""
        settings = self._jvm.org.apache.hadoop.conf.Configuration(self._settings)
        for name, value in _BOUNDED.items():
            sources = settings.getPropertySources(name)
            if sources is None or all(each.endswith("-default.xml") for each in sources):
                settings.set(name, value)
        with self._told():
            system = self._jvm.org.apache.hadoop.fs.FileSystem.newInstance(
                self._path.toUri(), settings
            )
            try:
                self.root = system.makeQualified(self._path).toString().rstrip("/")
                system.listStatusIterator(self._path).hasNext()
            finally:
                system.close()

    def top(self) -> dict[str, int]:
        with self._told():
            found = self._path.getFileSystem(self._settings).listStatusIterator(self._path)
            return dict(self._listed(found))

    def everything(self) -> dict[str, int]:
        with self._told():
            found = self._path.getFileSystem(self._settings).listFiles(self._path, True)
            return {
                name: size
                for name, size in self._listed(found)
                if not any(part.startswith(".") for part in name.split("/"))
            }

    def _listed(self, found: Any) -> Iterator[tuple[str, int]]:
        while found.hasNext():
            each = found.next()
            if each.isFile():
                yield each.getPath().toString().removeprefix(f"{self.root}/"), each.getLen()

    def read(self, name: str) -> bytes:
        with self.open(path_under(self.root, name)) as file:
            return file.read()

    def open(self, path: str) -> BinaryIO:
        with self._told(path):
            place = self._jvm.org.apache.hadoop.fs.Path(path)
            stream = place.getFileSystem(self._settings).open(place)
        return io.BufferedReader(_JavaStream(stream, lambda: self._told(path)), _READ_AT_ONCE)

    @contextmanager
    def _told(self, path: str | None = None) -> Iterator[None]:
        from py4j.protocol import Py4JJavaError

        try:
            yield
        except Py4JJavaError as error:
            raise SourceError(f"{path or self.folder}: {self._problem(error)}") from error

    def _problem(self, error: Any) -> str:
        """Return what is wrong, from the chain of what Java threw."""
        kinds: list[str] = []
        said: list[str] = []
        thrown = error.java_exception
        while thrown is not None and len(kinds) < 20:
            kinds.append(str(thrown.getClass().getSimpleName()))
            said.append(" ".join(str(thrown.getMessage() or "").split()))
            thrown = thrown.getCause()
        known, text = set(kinds), " ".join(said)
        scheme = scheme_of(self.folder)
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

    def __init__(self, stream: Any, told: Callable[[], Any]) -> None:
        self._stream = stream
        self._told = told

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        if whence != os.SEEK_SET:
            raise io.UnsupportedOperation("only from the beginning")
        with self._told():
            self._stream.seek(offset)
        return offset

    def tell(self) -> int:
        return int(self._stream.getPos())

    def readinto(self, buffer: Any) -> int:
        with self._told():
            found = bytes(self._stream.readNBytes(len(buffer)))
        buffer[: len(found)] = found
        return len(found)

    def readall(self) -> bytes:
        found = []
        with self._told():
            while piece := bytes(self._stream.readNBytes(_READ_AT_ONCE)):
                found.append(piece)
        return b"".join(found)

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
        super().close()


def check_for_spark(files: Files, names: dict[str, int]) -> None:
    """Raises: SourceError for a file that Spark would leave out, or can't bring to a worker."""
    for name, size in names.items():
        if _PASSED_OVER.match(name.rpartition("/")[2]):
            raise SourceError(
                f"{path_under(files.root, name)}: Spark passes over names that begin so; rename it"
            )
        if size > MAX_BYTES:
            raise SourceError(
                f"{path_under(files.root, name)}: has {size:,} bytes, and one worker reads it "
                f"whole, at most {MAX_BYTES:,}: write smaller files, or Parquet"
            )
