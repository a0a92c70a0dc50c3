"""Index files, metadata and expiration."""

from __future__ import annotations

from datetime import timedelta

import pytest

from cdcwire.core.errors import DecodeError, EncodeError, TruncatedError
from cdcwire.storage import (
    PathLayout,
    advance,
    is_expired,
    read_index,
    read_metadata,
    resume,
    row_is_complete,
    schema_is_complete,
    write_index,
    write_metadata,
)

LAYOUT = PathLayout()
JSON = PathLayout(digits=6, extension=".json")


def test_index_is_written_with_a_line_end() -> None:
    assert write_index(5, LAYOUT) == b"CDC00000000000000000005.csv\n"
    assert write_index(5, JSON, "a-1") == b"CDC_a-1_000005.json\n"


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (b"CDC000005.json\n", 5),
        (b"CDC000005.json", 5),
        (b"CDC1000000.json\n", 1000000),
        (b"CDC00000000000000000005.json\n", 5),
    ],
)
def test_index_is_read_with_and_without_line_end(value: bytes, number: int) -> None:
    assert read_index(value, JSON) == number


@pytest.mark.parametrize(
    ("value", "offset"),
    [
        (b"", 0),
        (b"\n", 0),
        (b"CDC1.json\n", 0),
        (b"CDC000000.json\n", 0),
        (b"cdc000001.json\n", 0),
        (b"CDC000001.csv\n", 0),
        (b"CDC000001.json\r\n", 14),
        (b"CDC000001.json\n\n", 14),
        (b" CDC000001.json\n", 0),
        (b"CDC000001.json \n", 14),
        (b"meta/CDC000001.json\n", 0),
        (b"CDC_a_000001.json\n", 0),
        (b"CDC\xd9\xa0\xd9\xa0\xd9\xa0\xd9\xa0\xd9\xa0\xd9\xa1.json", 3),
    ],
)
def test_index_of_something_else_is_refused(value: bytes, offset: int) -> None:
    with pytest.raises(DecodeError) as caught:
        read_index(value, JSON)
    assert (caught.value.offset, caught.value.clause) == (offset, "storage: index files")


def test_index_of_a_dispatcher_names_its_own_files() -> None:
    assert read_index(b"CDC_a_000001.json\n", JSON, "a") == 1
    with pytest.raises(DecodeError):
        read_index(b"CDC_b_000001.json\n", JSON, "a")


def test_index_of_many_bytes_is_refused_unread() -> None:
    with pytest.raises(DecodeError) as caught:
        read_index(b"C" * 1000, JSON)
    assert caught.value.clause == "storage: limits"


@pytest.mark.parametrize(
    ("number", "is_written", "following"), [(None, False, 1), (5, True, 6), (5, False, 5)]
)
def test_resume_uses_an_unfinished_number_again(
    number: int | None, is_written: bool, following: int
) -> None:
    assert resume(number, is_written) == following


def test_metadata_has_the_producers_bytes() -> None:
    value = b'{"checkpoint-ts":433305438660591626}'
    assert write_metadata(433305438660591626) == value
    assert read_metadata(value) == 433305438660591626
    assert read_metadata(b' { "checkpoint-ts" : 0 }\n') == 0
    assert read_metadata(write_metadata(2**64 - 1)) == 2**64 - 1


@pytest.mark.parametrize(
    ("value", "offset", "path"),
    [
        (b"{}", 1, ()),
        (b"[]", 0, ()),
        (b"1", 0, ()),
        (b'{"checkpoint-ts":"1"}', 17, ("checkpoint-ts",)),
        (b'{"checkpoint-ts":1.0}', 17, ("checkpoint-ts",)),
        (b'{"checkpoint-ts":1e3}', 17, ("checkpoint-ts",)),
        (b'{"checkpoint-ts":-1}', 17, ("checkpoint-ts",)),
        (b'{"checkpoint-ts":-0}', 17, ("checkpoint-ts",)),
        (b'{"checkpoint-ts":null}', 17, ("checkpoint-ts",)),
        (b'{"checkpoint-ts":18446744073709551616}', 17, ("checkpoint-ts",)),
        (b'{"checkpoint-ts":1,"x":2}', 19, ("x",)),
        (b'{"x":2,"checkpoint-ts":1}', 1, ("x",)),
        (b'{"checkpoint-ts":1,"checkpoint-ts":1}', 19, ("checkpoint-ts",)),
        (b'{"checkpoint-ts":1}{}', 19, ()),
        (b'\xef\xbb\xbf{"checkpoint-ts":1}', 0, ()),
    ],
)
def test_metadata_of_something_else_is_refused(
    value: bytes, offset: int, path: tuple[str, ...]
) -> None:
    with pytest.raises(DecodeError) as caught:
        read_metadata(value)
    error = caught.value
    assert (error.offset, error.path, error.clause) == (offset, path, "storage: metadata")


@pytest.mark.parametrize("cut", range(36))
def test_metadata_every_truncation_is_reported(cut: int) -> None:
    with pytest.raises(TruncatedError) as caught:
        read_metadata(b'{"checkpoint-ts":433305438660591626}'[:cut])
    assert caught.value.offset == cut


def test_metadata_checkpoint_never_goes_back() -> None:
    assert advance(None, 5) == 5
    assert advance(7, 5) == 7
    assert advance(5, 7) == 7
    with pytest.raises(EncodeError):
        write_metadata(-1)


def test_checkpoint_is_open_for_rows_and_closed_for_ddl() -> None:
    assert [row_is_complete(ts, 5) for ts in (4, 5, 6)] == [True, False, False]
    assert [schema_is_complete(ts, 5) for ts in (4, 5, 6)] == [True, True, False]
    assert row_is_complete(6, None)
    assert schema_is_complete(6, None)


CHECKPOINT = 441349361156227074  # 2023-05-09 in UTC


@pytest.mark.parametrize(
    ("path", "days", "gone"),
    [
        ("s/t/5/2023-05-06/CDC000001.csv", 3, False),
        ("s/t/5/2023-05-05/CDC000001.csv", 3, True),
        ("s/t/5/2023-05-05/meta/CDC.index", 3, True),
        ("s/t/5/7/2023-05-05/CDC000001.csv", 3, True),
        ("s/t/5/2023-05-05/CDC000001.csv", 0, False),
        ("s/log-2020-01-01/5/2023-05-09/CDC000001.csv", 3, False),
        ("s/log-2020-01-01/meta/schema_5_0000000009.json", 3, False),
        ("metadata", 3, False),
    ],
)
def test_expired_are_data_and_index_files_by_their_own_date(
    path: str, days: int, gone: bool
) -> None:
    assert is_expired(path, LAYOUT, CHECKPOINT, days) is gone


def test_expired_goes_by_the_servers_date_and_by_days_only() -> None:
    path = "s/t/5/2023-05-06/CDC000001.csv"
    assert is_expired(path, LAYOUT, CHECKPOINT, 3, timedelta(days=1))
    year = PathLayout("year")
    assert not is_expired("s/t/5/2020/CDC000001.csv", year, CHECKPOINT, 3)
