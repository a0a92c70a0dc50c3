"""Directories and stores behind one interface."""

from __future__ import annotations

import builtins
import pickle
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cdcwire_conformance.extras import MissingExtraError
from cdcwire_conformance.sources.storage.places import (
    LocalPlace,
    Place,
    PlaceError,
    open_place,
    url_of,
)


@pytest.fixture(params=["directory", "file url", "memory"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    if request.param == "memory":
        return open_place(str(request.getfixturevalue("memory_url")))
    folder = tmp_path / "a prefix"
    return open_place(str(folder) if request.param == "directory" else folder.as_uri())


def test_place_lists_what_was_put_with_sizes(place: Place) -> None:
    place.put("metadata", b"12")
    place.put("s/t/meta/schema", b"345")
    assert {(found.path, found.size) for found in place.list()} == {
        ("metadata", 2),
        ("s/t/meta/schema", 3),
    }
    assert [found.path for found in place.list("s/t/meta")] == ["s/t/meta/schema"]
    assert list(place.list("s/other")) == []


def test_place_reads_what_was_put_last(place: Place) -> None:
    place.put("a/b", b"1")
    place.put("a/b", b"22")
    assert place.read("a/b") == b"22"
    with pytest.raises(FileNotFoundError):
        place.read("a/c")


def test_place_stamp_changes_when_a_file_is_put_again(place: Place) -> None:
    place.put("a/b", b"1")
    (listed,) = place.list()
    assert place.look("a/b") == listed
    place.put("a/b", b"2")
    assert place.look("a/b") != listed
    assert place.look("a/c") is None


def test_place_that_is_not_there_is_one_line(place: Place) -> None:
    with pytest.raises(PlaceError, match="there is no"):
        list(place.list())


def test_place_names_with_odd_characters_come_back(place: Place) -> None:
    place.put("my-schema/表 1/x%20y", b"1")
    assert [found.path for found in place.list()] == ["my-schema/表 1/x%20y"]
    assert place.read("my-schema/表 1/x%20y") == b"1"


def test_place_url_of_a_file_opens_its_folder(place: Place) -> None:
    place.put("a/b", b"1")
    folder, _, name = url_of(place, "a/b").rpartition("/")
    assert open_place(folder).read(name) == b"1"


def test_local_place_can_be_sent_to_workers(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"1")
    assert pickle.loads(pickle.dumps(LocalPlace(tmp_path))).read("x") == b"1"


def test_local_place_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"1")
    with pytest.raises(PlaceError, match="x"):
        LocalPlace(tmp_path).put("x/y", b"1")


def test_local_place_on_a_full_disk_keeps_what_was_there(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource", reason="limits of file sizes are of Unix")
    place, limits = LocalPlace(tmp_path), resource.getrlimit(resource.RLIMIT_FSIZE)
    place.put("metadata", b"the checkpoint")
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))  # as if nothing more had room
    try:
        for path in ("metadata", "new"):
            with pytest.raises(PlaceError, match=path):
                place.put(path, b"another one")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert [(each.path, each.size) for each in place.list()] == [("metadata", 14)]
    assert place.read("metadata") == b"the checkpoint"


def test_local_place_puts_shorter_values_over_longer_ones(tmp_path: Path) -> None:
    place = LocalPlace(tmp_path)
    place.put("x", b"a long value")
    place.put("x", b"short")
    assert place.read("x") == b"short"


def test_open_place_without_fsspec_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "fsspec"]:
        monkeypatch.delitem(sys.modules, name)
    real: Callable[..., object] = builtins.__import__

    def without(name: str, *rest: object, **named: object) -> object:
        if name.partition(".")[0] == "fsspec":
            raise ModuleNotFoundError("No module named 'fsspec'", name="fsspec")
        return real(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    monkeypatch.setattr("cdcwire_conformance.extras.import_module", without)
    with pytest.raises(MissingExtraError, match=r"cdcwire\[storage\]"):
        open_place("s3://bucket/prefix")


def test_open_place_of_a_store_that_nobody_knows_is_one_line() -> None:
    pytest.importorskip("fsspec")
    with pytest.raises(PlaceError, match="nowhere"):
        open_place("nowhere://bucket/prefix")
