"""Where files are: a directory, a store that fsspec knows, or a file system of Hadoop.

A ``Store`` lists files with their sizes, reads and opens them, and puts whole files; that is all
that feeds and storage sinks do. Directories need the standard library only. ``memory://``, ``s3://``
and the like need the extra ``storage`` and the package of the store. Hadoop's file systems, such as
``s3a://``, are in ``spark.hadoop``: only a Spark session reaches them.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO, Protocol, TypeAlias
from urllib.parse import unquote, urlsplit

from cdcwire.console.visible import without_secrets
from cdcwire.extras import MissingExtraError, load_extra
from cdcwire.files.line_files import plain
from cdcwire.files.local_files import (
    BUFFER_BYTES,
    OutsideError,
    check_is_file,
    file_inside,
    is_inside,
    meant_file,
    open_inside,
    read_inside,
    write_whole,
)

OpenFile: TypeAlias = Callable[[str], BinaryIO]
"""Opens a file by its full name."""

MAX_BYTES = (1 << 31) - (1 << 20)  # of a file that Spark brings to a worker whole
_PIECE = 1 << 20
# Names that Spark leaves out of its lists of files, also where they are named.
_IGNORED = re.compile(r"\.|_(?!.*=)|.*\._COPYING_$")
_STAMPS = ("ETag", "etag", "md5", "mtime", "LastModified", "last_modified", "created")
_SCHEME = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]+):/")  # Hadoop writes file:/ with one slash

_PORT = re.compile(r"[^:/@]*:\d+/")  # of a host, at the beginning of a URL whose path has an @


class SourceError(ValueError):
    """A source is missing or invalid. The text is one line for the user."""


class StoreError(SourceError):
    """A store can't be listed, read or written. The text is one line for the user."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A file in a store. ``stamp`` changes when the file is put again; "" if the store has none."""

    path: str
    size: int
    stamp: str = ""


class Store(Protocol):
    """The files in a directory of a file system. Paths are relative to it, separated by ``/``."""

    @property
    def url(self) -> str:
        """The directory, as the user named it."""
        ...

    @property
    def root(self) -> str:
        """The directory, by a name that means the same in every process."""
        ...

    def list(self, under: str = "", *, recursive: bool = True) -> Iterator[Listed]:
        """Yield all files, or those in a directory; in no order. Raises: StoreError."""
        ...

    def look(self, path: str) -> Listed | None:
        """Return the current file; None for none. Raises: StoreError."""
        ...

    def read(self, path: str, most: int | None = None) -> bytes:
        """Return a file's bytes, ``most`` at most. Raises: FileNotFoundError; StoreError."""
        ...

    def open(self, path: str) -> BinaryIO:
        """Open a file, to be read and sought. Raises: OSError; StoreError."""
        ...

    def sum_of(self, path: str) -> tuple[int, str]:
        """Return size and SHA-256 of a file as it is stored. Raises: OSError; StoreError."""
        ...

    def put(self, path: str, value: bytes) -> None:
        """Write a file whole; replace an existing one. Raises: StoreError."""
        ...


def open_store(source: str) -> Store:
    """Return the store of a directory's name or a URL; it need not exist yet.

    Raises: StoreError; MissingExtraError for a URL whose package is not installed.
    """
    folder = directory_of(source)
    return _FsspecStore(source) if folder is None else LocalStore(folder)


def directory_of(source: str) -> str | None:
    """Return the directory of ``DIR``, ``file:DIR`` or ``file:///DIR``; None for other URLs.

    Raises: StoreError.
    """
    if not source.startswith("file:"):
        return None if is_url(source) else source
    path = source.removeprefix("file:")
    if path.startswith("//"):
        parts = urlsplit(source)
        if parts.netloc not in ("", "localhost"):
            raise StoreError("a file URL has three slashes, as in file:///data/feed")
        path = unquote(parts.path)
    if not path:
        raise StoreError("a directory is missing after file:")
    return path


def is_url(source: str) -> bool:
    """Return whether a source is a URL, and not the name of a file."""
    return _SCHEME.match(source) is not None


def scheme_of(url: str) -> str:
    """Return the scheme of a URL, in small letters; "" for the name of a file."""
    found = _SCHEME.match(url)
    return found[1].lower() if found else ""


def has_password(url: str) -> bool:
    """Return whether a URL has a password before its host. A password may contain slashes."""
    if not is_url(url):
        return False
    before = url.partition("/")[2].lstrip("/").rpartition("@")[0]
    return ":" in before and _PORT.match(before) is None


def path_under(root: str, path: str) -> str:
    """Return the full name of a file."""
    return f"{root}/{path}" if is_url(root) else str(Path(root, path))


def is_hidden(path: str) -> bool:
    """Return whether a file or one of its directories has a name that begins with a dot."""
    return path.startswith(".") or "/." in path


def open_here(path: str) -> BinaryIO:
    """Open a file of this machine; lines come without their compression."""
    return plain(path, open(path, "rb", buffering=BUFFER_BYTES))


def size_and_sum(file: BinaryIO) -> tuple[int, str]:
    """Return the number of bytes and their SHA-256, read in pieces."""
    found, size = sha256(), 0
    while piece := file.read(_PIECE):
        found.update(piece)
        size += len(piece)
    return size, found.hexdigest()


def opener_of(content: bytes | None) -> OpenFile:
    """Return a function that opens a file of this content; None: a file of this machine."""
    return open_here if content is None else lambda path: plain(path, io.BytesIO(content))


def opener_in(store: Store) -> OpenFile:
    """Return a function that opens the files of a store by their full names."""
    if not is_url(store.root):
        return open_here
    return lambda path: plain(path, store.open(path.removeprefix(f"{store.root}/")))


class LocalStore:
    """A directory. It needs nothing but the standard library, and can be pickled."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    @property
    def url(self) -> str:
        """The directory, as the user named it."""
        return str(self.folder)

    @property
    def root(self) -> str:
        """The absolute path of the directory."""
        return str(self.folder.absolute())

    def list(self, under: str = "", *, recursive: bool = True) -> Iterator[Listed]:
        """Yield all files, or those in a directory; in no order. Raises: StoreError."""
        top = self.folder / under if under else self.folder
        if not top.is_dir():
            if under:
                return
            if top.exists():
                raise StoreError(f"{self.folder}: is not a directory")
            meant = meant_file(self.folder)
            raise StoreError(f"{self.folder}: there is no such directory{meant}")
        # One directory's names at a time: no list of all of them is held here.
        folder = str(top)
        waiting = [(folder, f"{under}/" if under else "")]
        followed: set[str] = set()
        try:
            while waiting:
                folder, prefix = waiting.pop()
                with os.scandir(folder) as entries:
                    for entry in entries:
                        if entry.is_symlink():
                            self._check_link(entry, followed)
                        if not entry.is_dir():
                            yield _listed(f"{prefix}{entry.name}", entry.stat(), entry.path)
                        elif recursive:
                            waiting.append((entry.path, f"{prefix}{entry.name}/"))
        except OSError as error:
            raise _store_error(error, folder) from error

    def _check_link(self, entry: os.DirEntry[str], followed: set[str]) -> None:
        """Check that a link stays in the store and in no circle. Raises: OSError."""
        if not is_inside(self.folder, entry.path):
            raise OutsideError(entry.path)
        if entry.is_dir():
            real = os.path.realpath(entry.path)
            if real in followed or is_inside(Path(real), Path(entry.path).parent):
                raise OSError(
                    None, "the link leads to a directory that is read already", entry.path
                )
            followed.add(real)

    def look(self, path: str) -> Listed | None:
        """Return the current file; None for none. Raises: StoreError."""
        try:
            return _listed(path, os.stat(file_inside(self.folder, path)), path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise _store_error(error, path) from error

    def read(self, path: str, most: int | None = None) -> bytes:
        """Return a file's bytes, ``most`` at most. Raises: FileNotFoundError; StoreError."""
        try:
            if most is None:
                return read_inside(self.folder, path)
            with self.open(path) as file:
                return file.read(most)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise _store_error(error, path) from error

    def open(self, path: str) -> BinaryIO:
        """Open a file, to be read and sought. Raises: OSError."""
        return plain(path, open_inside(Path(self.root), path))

    def sum_of(self, path: str) -> tuple[int, str]:
        """Return the size and the SHA-256 of a file as it is stored. Raises: OSError."""
        with open_inside(Path(self.root), path) as file:
            return size_and_sum(file)

    def put(self, path: str, value: bytes) -> None:
        """Write a file whole, over an existing one. Raises: StoreError."""
        try:
            file = file_inside(self.folder, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            write_whole(file, value)
        except OSError as error:
            raise _store_error(error, path, "written") from error


class _FsspecStore:
    """A prefix in a store that fsspec knows.

    Each store's package has its own errors for a service that is gone or that refuses, and fsspec
    has no class for them all. Any error that the package raises is a ``StoreError`` here.
    """

    def __init__(self, url: str) -> None:
        core = load_extra("fsspec.core", "storage", f"Storage at {without_secrets(url)!r}")
        self._url = url.rstrip("/")
        scheme = url.partition("://")[0]
        try:
            # Without its cache of listings, which would hide what other writers do meanwhile.
            self._store, root = core.url_to_fs(self._url, use_listings_cache=False)
        except ImportError as error:
            problem = f"Storage at {without_secrets(url)!r} needs another package: {error}"
            raise MissingExtraError(" ".join(problem.split())) from error
        except ValueError as error:
            raise StoreError(f"{url}: fsspec knows no {scheme}:// ({error})") from error
        self._root = str(root).rstrip("/")

    @property
    def url(self) -> str:
        return self._url

    @property
    def root(self) -> str:
        return self._url

    def list(self, under: str = "", *, recursive: bool = True) -> Iterator[Listed]:
        top = f"{self._root}/{under}" if under else self._root
        depth = None if recursive else 1
        try:
            found = self._store.find(top, maxdepth=depth, withdirs=False, detail=True)
        except FileNotFoundError:
            found = {}
        except Exception as error:
            raise _store_error(error, top) from error
        if not found and not under and not self._exists():
            raise StoreError(f"{self._url}: there is nothing")
        for name, info in found.items():
            yield self._listed(str(name), info)

    def _exists(self) -> bool:
        try:
            return bool(self._store.exists(self._root))
        except Exception as error:
            raise _store_error(error, self._url) from error

    def look(self, path: str) -> Listed | None:
        try:
            info = self._store.info(f"{self._root}/{path}")
        except FileNotFoundError:
            return None
        except Exception as error:
            raise _store_error(error, path) from error
        return self._listed(f"{self._root}/{path}", info)

    def read(self, path: str, most: int | None = None) -> bytes:
        try:
            found = self._store.cat_file(f"{self._root}/{path}", end=most)
        except FileNotFoundError:
            raise
        except Exception as error:
            raise _store_error(error, path) from error
        assert isinstance(found, bytes)
        return found

    def open(self, path: str) -> BinaryIO:
        return io.BytesIO(self.read(path))

    def sum_of(self, path: str) -> tuple[int, str]:
        try:
            with self._store.open(f"{self._root}/{path}", "rb") as file:
                return size_and_sum(file)
        except Exception as error:
            raise _store_error(error, path) from error

    def put(self, path: str, value: bytes) -> None:
        name = f"{self._root}/{path}"
        try:
            self._store.makedirs(name.rpartition("/")[0], exist_ok=True)
            self._store.pipe_file(name, value)
        except Exception as error:
            raise _store_error(error, path, "written") from error

    def _listed(self, name: str, info: dict[str, Any]) -> Listed:
        root = self._root.lstrip("/")
        path = name.lstrip("/").removeprefix(root).lstrip("/")
        stamp = next((info[key] for key in _STAMPS if info.get(key) is not None), "")
        if isinstance(stamp, datetime):  # some stores give a time as a number when they list
            stamp = stamp.timestamp()
        return Listed(path, int(info.get("size") or 0), str(stamp))


def _listed(path: str, found: os.stat_result, name: str) -> Listed:
    """Return a file of this machine. Raises: OSError for a pipe or a device, which has no end."""
    check_is_file(found, name)
    return Listed(path, found.st_size, f"{found.st_mtime_ns}-{found.st_ino}")


def _store_error(error: Exception, name: str, done: str = "read") -> StoreError:
    if isinstance(error, OSError):
        name, text = str(error.filename or name), str(error.strerror or error)
    else:
        text = " ".join(str(error).split()) or type(error).__name__
    return StoreError(f"{name}: can't be {done}: {text}")


def check_for_spark(root: str, sizes: Mapping[str, int]) -> None:
    """Check that Spark can read the files of a directory, by name and size.

    Raises: SourceError for a file that Spark ignores, or that is too large for a worker.
    """
    for name, size in sizes.items():
        if _IGNORED.match(name.rpartition("/")[2]):
            raise SourceError(
                f"{path_under(root, name)}: Spark ignores names that begin so; rename the file"
            )
        if size > MAX_BYTES:
            raise SourceError(
                f"{path_under(root, name)}: has {size:,} bytes, and one worker reads it "
                f"whole, at most {MAX_BYTES:,}: write smaller files, or Parquet"
            )
