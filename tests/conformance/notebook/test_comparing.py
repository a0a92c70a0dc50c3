"""``compare`` for notebooks, on the embedded engine."""

from __future__ import annotations

import gc
import json
from pathlib import Path

import pytest

pytest.importorskip("pyarrow", reason="needs the extra compare")
pytest.importorskip("pandas", reason="DataFrames need pandas")

from cdcwire.arrow.types import SchemaError
from cdcwire.console.problems import UsageError
from cdcwire_conformance.cli import main
from cdcwire_conformance.notebook import compare

ROWS = 60


@pytest.fixture(scope="module")
def feeds(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Two feeds of one table. The right one lacks the last 10 changes."""
    folder = tmp_path_factory.mktemp("notebook")
    sides = ("craft", ROWS), ("open-protocol", ROWS - 10)
    for name, rows in sides:
        words = ("--rows", str(rows), "--workload", "orders-10", "--to", str(folder / name))
        assert main(["generate", name, *words]) == 0
    left, right = (f"{name}:file:{folder / name}" for name, _ in sides)
    return left, right


def test_all_differences_are_in_a_data_frame(feeds: tuple[str, str]) -> None:
    found = compare(*feeds, limit=1)
    assert not found.is_equal
    assert len(found.result.tables[0].differences) == 1
    frame = found.differences
    assert set(frame["kind"]) == {"only left"}
    assert frame["difference"].nunique() == 10
    (table,) = found.tables.to_dict("records")
    assert (table["only_left"], table["same"], table["differing"]) == (10, ROWS - 10, 10)
    assert found.patterns["count"].sum() == 10


def test_the_directory_of_differences_ends_with_the_result(feeds: tuple[str, str]) -> None:
    found = compare(*feeds)
    assert found.folder is not None
    folder = Path(found.folder)
    assert folder.is_dir()
    del found
    gc.collect()
    assert not folder.exists()


def test_differences_and_reports_go_where_the_options_say(
    feeds: tuple[str, str], tmp_path: Path
) -> None:
    found = compare(*feeds, differences=tmp_path / "found", json=str(tmp_path / "report.json"))
    assert found.folder == str(tmp_path / "found")
    assert len(found.differences) > 0
    assert json.loads((tmp_path / "report.json").read_text())["equal"] is False


def test_equal_feeds_have_no_differences(feeds: tuple[str, str]) -> None:
    found = compare(feeds[0], feeds[0])
    assert found.is_equal
    assert len(found.differences) == 0
    assert repr(found).endswith("EQUAL: 60 changes of 1 table, by 128 bits of hash per row\n")


def test_options_are_those_of_the_command_line(feeds: tuple[str, str]) -> None:
    with pytest.raises(SchemaError, match=r"^--ignore-column: no table has a column nothing$"):
        compare(*feeds, ignore_column=["nothing"])
    with pytest.raises(UsageError, match="--follow is for the command line"):
        compare(*feeds, follow=True)
