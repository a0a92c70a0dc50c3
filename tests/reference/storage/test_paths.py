"""Paths of every setting, both ways, and the paths that are none."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.storage import (
    DataPath,
    IndexPath,
    MetadataPath,
    PathLayout,
    SchemaPath,
    StoragePath,
    parse_path,
    path_text,
)

DATA = Path(__file__).parent / "data"
NAMES = json.loads((DATA / "path_names.json").read_text())
BUCKET = sorted(
    path.relative_to(DATA / "bucket-csv").as_posix()
    for path in (DATA / "bucket-csv").rglob("*")
    if path.is_file()
)
DAY = PathLayout()
NONE = PathLayout("none")
YEAR = PathLayout("year")


@pytest.mark.parametrize("case", NAMES, ids=str)
def test_path_of_every_setting_reads_and_writes_the_producers_text(case: dict[str, Any]) -> None:
    layout = PathLayout(
        case["date_separator"], case["enable_partition_separator"], case["file_index_width"]
    )
    date = {"none": "", "year": "2023", "month": "2023-05", "day": "2023-05-09"}
    is_parted = case["enable_partition_separator"] and case["table_is_partitioned"]
    directory = (
        *("hr", "employee", 441349361156227074),
        13 if is_parted else None,
        date[case["date_separator"]],
    )
    for text, path in (
        (case["data"], DataPath(*directory, 1)),
        (case["index"], IndexPath(*directory)),
    ):
        assert parse_path(text, layout) == path
        assert path_text(path, layout) == text


@pytest.mark.parametrize("name", BUCKET)
def test_path_of_a_prefix_comes_back(name: str) -> None:
    assert path_text(parse_path(name, DAY), DAY) == name


@pytest.mark.parametrize(
    ("text", "layout", "path"),
    [
        ("s/t/5/2023/CDC000001.csv", NONE, DataPath("s", "t", 5, 2023, "", 1)),
        ("s/t/5/2023/CDC000001.csv", YEAR, DataPath("s", "t", 5, None, "2023", 1)),
        (
            "my-schema/表/5/2023-05-09/CDC000001.csv",
            DAY,
            DataPath("my-schema", "表", 5, None, "2023-05-09", 1),
        ),
        ("meta/meta/5/CDC000001.csv", NONE, DataPath("meta", "meta", 5, None, "", 1)),
        ("meta/meta/5/meta/CDC.index", NONE, IndexPath("meta", "meta", 5, None, "")),
        ("meta/meta/schema_5_0000000009.json", NONE, SchemaPath("meta", None, 5, 9)),
        ("meta/meta/meta/schema_5_0000000009.json", NONE, SchemaPath("meta", "meta", 5, 9)),
        ("a..b/t/5/CDC1000000.csv", NONE, DataPath("a..b", "t", 5, None, "", 1000000)),
        ("s/t/0/18446744073709551615/CDC000001.csv", NONE, None),
        ("s/t/0/7/CDC18446744073709551615.csv", NONE, DataPath("s", "t", 0, 7, "", 2**64 - 1)),
        ("s/t/5/CDC_a-1_b_000003.csv", NONE, DataPath("s", "t", 5, None, "", 3, "a-1_b")),
        ("s/t/5/meta/CDC_a-1.index", NONE, IndexPath("s", "t", 5, None, "", "a-1")),
        ("112/5/2023-05-09/CDC000001.csv", DAY, DataPath("", "112", 5, None, "2023-05-09", 1)),
        ("112/5/CDC000001.csv", NONE, DataPath("", "112", 5, None, "", 1)),
        ("112/meta/schema_5_0000000009.json", NONE, SchemaPath("112", None, 5, 9)),
        ("metadata", DAY, MetadataPath()),
    ],
)
def test_path_with_odd_names_is_read(
    text: str, layout: PathLayout, path: StoragePath | None
) -> None:
    if path is None:
        with pytest.raises(DecodeError):
            parse_path(text, layout)
    else:
        assert parse_path(text, layout) == path


REFUSED = [
    ("", "storage: names"),
    ("/metadata", "storage: names"),
    ("Metadata", "storage: names"),
    ("metadata/", "storage: names"),
    ("s//t/5/2023-05-09/CDC000001.csv", "storage: names"),
    ("s/../5/2023-05-09/CDC000001.csv", "storage: names"),
    ("./t/5/2023-05-09/CDC000001.csv", "storage: names"),
    ("s/t/5/2023-05-09/CDC000001.csv.tmp", "storage: names"),
    ("s/t/5/2023-05-09/cdc000001.csv", "storage: names"),
    ("s/t/5/2023-05-09/CDC00001.csv", "storage: file numbers"),
    ("s/t/5/2023-05-09/CDC000000.csv", "storage: file numbers"),
    ("s/t/5/2023-05-09/CDC00000a.csv", "storage: file numbers"),
    ("s/t/5/2023-05-09/CDC٠٠٠٠٠١.csv", "storage: file numbers"),
    ("s/t/5/2023-05-09/CDC18446744073709551616.csv", "storage: file numbers"),
    ("s/t/5/2023-05-09/CDC000001.json", "storage: names"),
    ("s/t/5/CDC000001.csv", "storage: separators"),
    ("s/t/5/2023-05/CDC000001.csv", "storage: separators"),
    ("s/t/5/2023-02-30/CDC000001.csv", "storage: separators"),
    ("s/t/5/2023-05-09x/CDC000001.csv", "storage: separators"),
    ("s/t/x/2023-05-09/CDC000001.csv", "storage: separators"),
    ("s/t/05/2023-05-09/CDC000001.csv", "storage: separators"),
    ("s/t/18446744073709551616/2023-05-09/CDC000001.csv", "storage: separators"),
    ("s/t/5/x/2023-05-09/CDC000001.csv", "storage: separators"),
    ("s/t/5/7/7/2023-05-09/CDC000001.csv", "storage: separators"),
    ("t/5/2023-05-09/CDC000001.csv", "storage: newer variants"),
    ("s/t/5/2023-05-09/meta/CDC000001.csv", "storage: separators"),
    ("s/t/5/2023-05-09/CDC.index", "storage: names"),
    ("s/t/5/2023-05-09/meta/cdc.index", "storage: names"),
    ("meta/schema_5_0000000009.json", "storage: names"),
    ("s/t/u/meta/schema_5_0000000009.json", "storage: names"),
    ("s/t/meta/schema_5_009.json", "storage: names"),
    ("s/t/meta/schema_5_4294967296.json", "storage: names"),
    ("s/t/meta/schema_05_0000000009.json", "storage: names"),
    ("s/t/schema_5_0000000009.json", "storage: names"),
    ("s" * 4097, "storage: limits"),
]


@pytest.mark.parametrize(("text", "clause"), REFUSED)
def test_path_that_is_none_is_refused_with_its_clause(text: str, clause: str) -> None:
    with pytest.raises(DecodeError) as caught:
        parse_path(text, DAY)
    assert (caught.value.offset, caught.value.clause) == (0, clause)


def test_partition_without_separator_is_refused() -> None:
    layout = PathLayout("none", has_partitions=False)
    with pytest.raises(DecodeError) as caught:
        parse_path("s/t/5/7/CDC000001.csv", layout)
    assert caught.value.clause == "storage: separators"
    with pytest.raises(EncodeError) as refused:
        path_text(DataPath("s", "t", 5, 7, "", 1), layout)
    assert refused.value.clause == "storage: separators"


@pytest.mark.parametrize(
    "path",
    [
        DataPath("s/t", "t", 5, None, "", 1),
        DataPath("s", "..", 5, None, "", 1),
        DataPath("s", "", 5, None, "", 1),
        DataPath("s", "a\0", 5, None, "", 1),
        DataPath("s", "\ud800", 5, None, "", 1),
        DataPath("s", "t", -1, None, "", 1),
        DataPath("s", "t", 5, -1, "", 1),
        DataPath("s", "t", 5, None, "", 0),
        DataPath("s", "t", 5, None, "2023-05-09", 1),
        DataPath("s", "t", 5, None, "", 1, "a/b"),
        DataPath("", "t", 5, None, "", 1),
        DataPath("", "12", 5, 7, "", 1),
        SchemaPath("s", "t", 5, 1 << 32),
        SchemaPath("..", None, 5, 1),
        IndexPath("s", "t", 1 << 64, None, ""),
    ],
    ids=str,
)
def test_path_that_the_layout_cannot_have_is_refused(path: StoragePath) -> None:
    with pytest.raises(EncodeError):
        path_text(path, NONE)


@pytest.mark.parametrize(("digits", "width"), [(5, 20), (6, 6), (20, 20), (21, 20), (0, 20)])
def test_layout_digits_out_of_range_count_as_twenty(digits: int, width: int) -> None:
    assert PathLayout(digits=digits).width == width


def test_path_number_wider_than_the_setting_widens_the_name() -> None:
    layout = PathLayout("none", digits=6)
    path = DataPath("s", "t", 5, None, "", 1234567)
    assert path_text(path, layout) == "s/t/5/CDC1234567.csv"


@pytest.mark.parametrize("bad", [{"date_separator": "week"}, {"extension": ".txt"}])
def test_layout_of_unknown_settings_is_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="is"):
        PathLayout(**bad)


CHARACTERS = st.characters(exclude_characters="/\0", exclude_categories=["Cs"])
NAME = st.text(CHARACTERS, min_size=1).filter(lambda name: name not in (".", ".."))
LAYOUTS = st.builds(
    PathLayout,
    st.sampled_from(["none", "year", "month", "day"]),
    st.just(True),
    st.integers(0, 25),
    st.sampled_from([".csv", ".json"]),
)
U64 = st.integers(0, 2**64 - 1)


PARTITION = st.none() | st.integers(0, 2**63 - 1)


@given(LAYOUTS, NAME, NAME, U64, PARTITION, st.dates(), st.integers(1, 2**64 - 1))
def test_path_written_is_read_back(
    layout: PathLayout,
    schema: str,
    table: str,
    version: int,
    partition: int | None,
    date: datetime.date,
    number: int,
) -> None:
    """parse_path(path_text(p)) == p for data, index and schema files."""
    size = {"none": 0, "year": 4, "month": 7, "day": 10}[layout.date_separator]
    directory = (schema, table, version, partition, date.isoformat()[:size])
    paths: list[StoragePath] = [
        DataPath(*directory, number),
        IndexPath(*directory),
        SchemaPath(schema, table, version, number & 0xFFFFFFFF),
        SchemaPath(schema, None, version, number & 0xFFFFFFFF),
    ]
    for path in paths:
        assert parse_path(path_text(path, layout), layout) == path


@given(
    st.lists(
        st.sampled_from(
            ["s", "meta", "5", "2023-05-09", "CDC000001.csv", "CDC.index", "..", "metadata", ""]
        )
    ),
    LAYOUTS,
)
def test_path_of_any_parts_is_read_or_refused(parts: list[str], layout: PathLayout) -> None:
    """Nothing but DecodeError leaves the parser, and what it takes is written back."""
    text = "/".join(parts)
    try:
        path = parse_path(text, layout)
    except DecodeError:
        return
    assert parse_path(path_text(path, layout), layout) == path
