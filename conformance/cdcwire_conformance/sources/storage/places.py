"""Where a prefix is: a directory, or any store that fsspec knows, by its URL.

A ``Place`` lists with sizes, reads whole files and puts whole files; that is all a storage sink
does. Directories need the standard library only; ``memory://``, ``s3://`` and the like need the
extra ``storage``, and the store's own package beside it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import unquote, urlsplit

from cdcwire_conformance.extras import MissingExtraError, load_extra

_STAMPS = ("ETag", "etag", "md5", "mtime", "LastModified", "last_modified", "created")


class PlaceError(Exception):
    """A place can't be listed, read or written. The text is one line for the user."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A file in a place. ``stamp`` changes when the file is put again; "" if the store has none."""

    path: str
    size: int
    stamp: str = ""


class Place(Protocol):
    """A prefix in a store. Paths are relative to it, with ``/`` between their parts."""

    @property
    def url(self) -> str: ...

    def list(self, under: str = "") -> Iterator[Listed]:
        """Yield all files, or those in a directory; in no order. Raises: PlaceError."""

    def look(self, path: str) -> Listed | None:
        """Return what is there under a path now; None if nothing is. Raises: PlaceError."""

    def read(self, path: str) -> bytes:
        """Return a file's bytes. Raises: FileNotFoundError; PlaceError."""

    def put(self, path: str, value: bytes) -> None:
        """Write a file whole, over what was there. Raises: PlaceError."""


def open_place(source: str) -> Place:
    """Return the place that a directory's name or a URL means; it need not exist yet.

    Raises: PlaceError; MissingExtraError for a URL whose package is not installed.
    """
    if "://" not in source:
        return LocalPlace(Path(source))
    parts = urlsplit(source)
    if parts.scheme == "file":
        return LocalPlace(Path(unquote(parts.path)))
    return _StorePlace(source)


def is_url(source: str) -> bool:
    """Return whether a source is a URL, and not the name of a file."""
    return "://" in source


def url_of(place: Place, path: str) -> str:
    """Return the whole URL or file name of a path."""
    return f"{place.url}/{path}"


class LocalPlace:
    """A directory. It needs nothing but the standard library, and can be pickled."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @property
    def url(self) -> str:
        return str(self.root)

    def list(self, under: str = "") -> Iterator[Listed]:
        top = self.root / under if under else self.root
        if not top.is_dir():
            if under:
                return
            raise PlaceError(f"{self.root}: there is no such directory")
        # One directory's names at a time: no list of all of them is held here.
        waiting = [(str(top), f"{under}/" if under else "")]
        try:
            while waiting:
                folder, prefix = waiting.pop()
                with os.scandir(folder) as entries:
                    for entry in entries:
                        if entry.is_dir():
                            waiting.append((entry.path, f"{prefix}{entry.name}/"))
                        else:
                            yield _listed(f"{prefix}{entry.name}", entry.stat())
        except OSError as error:
            raise _place_error(error, folder) from error

    def look(self, path: str) -> Listed | None:
        try:
            return _listed(path, os.stat(self.root / path))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise _place_error(error, path) from error

    def read(self, path: str) -> bytes:
        try:
            return (self.root / path).read_bytes()
        except FileNotFoundError:
            raise
        except OSError as error:
            raise _place_error(error, path) from error

    def put(self, path: str, value: bytes) -> None:
        file = self.root / path
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            _write_whole(file, value)
        except OSError as error:
            raise _place_error(error, path) from error


def _write_whole(file: Path, value: bytes) -> None:
    """Write over what is there without emptying it first: a full disk would leave nothing of it.

    A new file that can't be written whole is removed again.
    """
    is_new = not file.exists()
    try:
        with file.open("xb" if is_new else "r+b") as out:
            out.write(value)
            out.truncate()
    except OSError:
        if is_new:
            with contextlib.suppress(OSError):
                file.unlink()
        raise


class _StorePlace:
    """A prefix in a store that fsspec knows.

    Each store's package has errors of its own, for a service that is gone or that refuses, and
    fsspec has no class for them all: whatever it raises is a ``PlaceError`` here.
    """

    def __init__(self, url: str) -> None:
        core = load_extra("fsspec.core", "storage", f"Storage at {url!r}")
        self._url = url.rstrip("/")
        scheme = url.partition("://")[0]
        try:
            # Without its cache of listings, which would hide what other writers do meanwhile.
            self._store, root = core.url_to_fs(self._url, use_listings_cache=False)
        except ImportError as error:
            problem = f"Storage at {url!r} needs a package of its own: {error}"
            raise MissingExtraError(" ".join(problem.split())) from error
        except ValueError as error:
            raise PlaceError(f"{url}: fsspec knows no {scheme}:// ({error})") from error
        self._root = str(root).rstrip("/")

    @property
    def url(self) -> str:
        return self._url

    def list(self, under: str = "") -> Iterator[Listed]:
        top = f"{self._root}/{under}" if under else self._root
        try:
            found = self._store.find(top, withdirs=False, detail=True)
        except FileNotFoundError:
            found = {}
        except Exception as error:
            raise _place_error(error, top) from error
        if not found and not under and not self._exists():
            raise PlaceError(f"{self._url}: there is nothing")
        for name, info in found.items():
            yield self._listed(str(name), info)

    def _exists(self) -> bool:
        try:
            return bool(self._store.exists(self._root))
        except Exception as error:
            raise _place_error(error, self._url) from error

    def look(self, path: str) -> Listed | None:
        try:
            info = self._store.info(f"{self._root}/{path}")
        except FileNotFoundError:
            return None
        except Exception as error:
            raise _place_error(error, path) from error
        return self._listed(f"{self._root}/{path}", info)

    def read(self, path: str) -> bytes:
        try:
            found = self._store.cat_file(f"{self._root}/{path}")
        except FileNotFoundError:
            raise
        except Exception as error:
            raise _place_error(error, path) from error
        assert isinstance(found, bytes)
        return found

    def put(self, path: str, value: bytes) -> None:
        name = f"{self._root}/{path}"
        try:
            self._store.makedirs(name.rpartition("/")[0], exist_ok=True)
            self._store.pipe_file(name, value)
        except Exception as error:
            raise _place_error(error, path) from error

    def _listed(self, name: str, info: dict[str, Any]) -> Listed:
        root = self._root.lstrip("/")
        path = name.lstrip("/").removeprefix(root).lstrip("/")
        stamp = next((info[key] for key in _STAMPS if info.get(key) is not None), "")
        if isinstance(stamp, datetime):  # some stores give a time as a number when they list
            stamp = stamp.timestamp()
        return Listed(path, int(info.get("size") or 0), str(stamp))


def _listed(path: str, found: os.stat_result) -> Listed:
    return Listed(path, found.st_size, f"{found.st_mtime_ns}-{found.st_ino}")


def _place_error(error: Exception, name: str) -> PlaceError:
    if isinstance(error, OSError):
        return PlaceError(f"{error.filename or name}: {error.strerror or error}")
    return PlaceError(f"{name}: {' '.join(str(error).split()) or type(error).__name__}")
