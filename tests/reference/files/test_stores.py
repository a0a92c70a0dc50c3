"""Directories and stores behind one interface."""

from __future__ import annotations

import builtins
import gzip
import hashlib
import pickle
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cdcwire.extras import MissingExtraError
from cdcwire.files.stores import (
    LocalStore,
    Store,
    StoreError,
    has_password,
    open_store,
    path_under,
)


@pytest.fixture(params=["directory", "file url", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    if request.param == "memory":
        return open_store(str(request.getfixturevalue("memory_url")))
    folder = tmp_path / "a prefix"
    return open_store(str(folder) if request.param == "directory" else folder.as_uri())


def test_store_lists_what_was_put_with_sizes(store: Store) -> None:
    store.put("metadata", b"12")
    store.put("s/t/meta/schema", b"345")
    assert {(found.path, found.size) for found in store.list()} == {
        ("metadata", 2),
        ("s/t/meta/schema", 3),
    }
    assert [found.path for found in store.list("s/t/meta")] == ["s/t/meta/schema"]
    assert list(store.list("s/other")) == []


def test_store_reads_what_was_put_last(store: Store) -> None:
    store.put("a/b", b"1")
    store.put("a/b", b"22")
    assert store.read("a/b") == b"22"
    with pytest.raises(FileNotFoundError):
        store.read("a/c")


def test_store_stamp_changes_when_a_file_is_put_again(store: Store) -> None:
    store.put("a/b", b"1")
    (listed,) = store.list()
    assert store.look("a/b") == listed
    store.put("a/b", b"2")
    assert store.look("a/b") != listed
    assert store.look("a/c") is None


def test_store_sums_a_file_as_it_is_stored(store: Store) -> None:
    packed = gzip.compress(b"1\n" * 100)
    store.put("a/b.gz", packed)
    assert store.sum_of("a/b.gz") == (len(packed), hashlib.sha256(packed).hexdigest())
    with pytest.raises((FileNotFoundError, StoreError)):
        store.sum_of("a/c")


def test_store_that_is_not_there_is_one_line(store: Store) -> None:
    with pytest.raises(StoreError, match="there is no"):
        list(store.list())


def test_store_names_with_odd_characters_come_back(store: Store) -> None:
    store.put("my-schema/表 1/x%20y", b"1")
    assert [found.path for found in store.list()] == ["my-schema/表 1/x%20y"]
    assert store.read("my-schema/表 1/x%20y") == b"1"


def test_store_url_of_a_file_opens_its_folder(store: Store) -> None:
    store.put("a/b", b"1")
    folder, _, name = path_under(store.url, "a/b").rpartition("/")
    assert open_store(folder).read(name) == b"1"


def test_local_store_can_be_sent_to_workers(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"1")
    assert pickle.loads(pickle.dumps(LocalStore(tmp_path))).read("x") == b"1"


def test_local_store_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"1")
    with pytest.raises(StoreError, match="x"):
        LocalStore(tmp_path).put("x/y", b"1")


def test_local_store_on_a_full_disk_keeps_what_was_there(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource", reason="limits of file sizes are of Unix")
    store, limits = LocalStore(tmp_path), resource.getrlimit(resource.RLIMIT_FSIZE)
    store.put("metadata", b"the checkpoint")
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))  # as if nothing more had room
    try:
        for path in ("metadata", "new"):
            with pytest.raises(StoreError, match=path):
                store.put(path, b"another one")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert [(each.path, each.size) for each in store.list()] == [("metadata", 14)]
    assert store.read("metadata") == b"the checkpoint"


def test_local_store_puts_shorter_values_over_longer_ones(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    store.put("x", b"a long value")
    store.put("x", b"short")
    assert store.read("x") == b"short"


@pytest.mark.parametrize("form", ["{}", "file:{}", "file://{}", "file://localhost{}"])
def test_open_store_of_a_directory_in_any_spelling(form: str, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"1")
    assert open_store(form.format(tmp_path)).read("x") == b"1"


def test_open_store_of_a_file_url_with_a_host_is_one_line() -> None:
    with pytest.raises(StoreError, match="three slashes"):
        open_store("file://data/feed")


def test_open_store_without_fsspec_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "fsspec"]:
        monkeypatch.delitem(sys.modules, name)
    real: Callable[..., object] = builtins.__import__

    def without(name: str, *rest: object, **named: object) -> object:
        if name.partition(".")[0] == "fsspec":
            raise ModuleNotFoundError("No module named 'fsspec'", name="fsspec")
        return real(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    monkeypatch.setattr("cdcwire.extras.import_module", without)
    with pytest.raises(
        MissingExtraError, match=r"needs the package fsspec \(extra storage\): pip install '"
    ):
        open_store("s3://bucket/prefix")


def test_open_store_of_a_store_that_nobody_knows_is_one_line() -> None:
    pytest.importorskip("fsspec")
    with pytest.raises(StoreError, match="nowhere"):
        open_store("nowhere://bucket/prefix")


@pytest.mark.parametrize(
    ("url", "has_one"),
    [
        ("s3a://user:password@bucket/x", True),
        ("s3a://user:pass/wo+rd@bucket/x", True),
        ("s3a:/user:password@bucket/x", True),
        ("ftp://:password@host", True),
        ("abfss://container@account.dfs.core.windows.net/x", False),
        ("hdfs://host:9000/a@b", False),
        ("hdfs://host/2024-01-01T10:00", False),
        ("folder/user:password@x", False),
    ],
)
def test_password_of_a_url_is_found(url: str, has_one: bool) -> None:
    assert has_password(url) is has_one
