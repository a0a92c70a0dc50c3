"""Feeds that other processes read: the rows, order, verdict and errors that one process gives."""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from cdcwire.core.context import Context
from cdcwire.core.options import OptionValue
from cdcwire.feed import FeedError
from cdcwire.files.messages_io import write_messages
from cdcwire.files.stores import LocalStore
from cdcwire.model.events import Event, RowChange
from cdcwire.registry import get_format
from cdcwire_conformance.cli import main
from cdcwire_conformance.compare.embedded import kept_rows
from cdcwire_conformance.compare.embedded.engine import compare_feeds
from cdcwire_conformance.compare.feed import ComparedFeed
from cdcwire_conformance.compare.result import Comparison
from cdcwire_conformance.compare.rules import CompareOptions, Mode
from cdcwire_conformance.decode import many_tables
from cdcwire_conformance.decode import workers as decode_workers
from cdcwire_conformance.decode.workers import (
    HERE,
    Numbered,
    ThisProcess,
    Work,
    reading_processes,
    work_of_lines,
)
from cdcwire_conformance.sources.pieces import Piece
from cdcwire_conformance.sources.source_urls import parse_source
from cdcwire_conformance.sources.storage.writing import PrefixWriter, write_prefix
from cdcwire_generators.messages import definitions_for
from cdcwire_generators.workloads import workload, workload_tables

ROWS = 120
SHARE = 4_000  # bytes
WORKLOAD = "orders-10"
FEEDS: dict[str, tuple[str, dict[str, OptionValue]]] = {
    "canal-json": ("canal-json", {}),
    "craft": ("craft", {}),
    "avro": ("avro", {"enable-tidb-extension": True}),
    "maxwell-json": ("maxwell-json", {}),  # types from values
    "simple": ("simple", {}),  # schemas among the messages
    "csv": ("csv", {"include-commit-ts": True}),
}


@pytest.fixture(scope="module")
def readers() -> Iterator[ThisProcess]:
    """Return two processes, kept for all tests."""
    with reading_processes(2) as found:
        yield found


@pytest.fixture(autouse=True)
def small_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    """Split small feeds as large ones are."""
    monkeypatch.setattr(decode_workers, "LEAST_BYTES", 0)
    monkeypatch.setattr(kept_rows, "LEAST_BYTES", 0)
    for module in (many_tables, decode_workers):
        monkeypatch.setattr(module, "IN_ORDER_BYTES", SHARE)
    monkeypatch.setattr(decode_workers, "_LEAST_SHARE_BYTES", SHARE)


def events() -> list[Event]:
    return list(workload(WORKLOAD, ROWS, 3))


def feed_of(folder: Path, name: str, found: Sequence[Event]) -> ComparedFeed:
    """Write a feed: a prefix for CSV, else JSON lines."""
    form, options = FEEDS[name]
    format_ = get_format(form)
    tables = workload_tables(WORKLOAD)
    known = definitions_for(found, format_, options, tables)
    context = Context(options, known)
    folder.mkdir()
    if form == "csv":
        writer = PrefixWriter(
            LocalStore(folder), form, replace(context, options={**options, "file-size": SHARE})
        )
        write_prefix(writer, found)
    else:
        messages = list(format_.from_events(found, context=context))
        half = len(messages) // 2
        write_messages(str(folder / "a.jsonl"), messages[:half])
        write_messages(str(folder / "b.jsonl"), messages[half:])
    return ComparedFeed(parse_source(f"{form}:file:{folder}"), Context(options, known))


def without_time(found: Comparison) -> Comparison:
    return replace(found, seconds=0.0)


@pytest.mark.parametrize(
    ("name", "mode"), [*((name, "events") for name in FEEDS), ("canal-json", "final")]
)
def test_processes_find_what_one_process_finds(
    tmp_path: Path, readers: ThisProcess, name: str, mode: Mode
) -> None:
    found = events()
    left = feed_of(tmp_path / "left", name, found)
    rows = [number for number, event in enumerate(found) if isinstance(event, RowChange)]
    right = feed_of(tmp_path / "right", name, [e for n, e in enumerate(found) if n != rows[-9]])
    options = CompareOptions(mode=mode)
    alone = compare_feeds(left, right, options)
    together = compare_feeds(left, right, options, workers=readers)
    assert without_time(together) == without_time(alone)
    assert together.is_different
    assert compare_feeds(left, left, options, workers=readers).is_equal


@pytest.mark.parametrize("name", ["canal-json", "maxwell-json"])
def test_a_message_that_cannot_be_read_is_the_same_error(
    tmp_path: Path, readers: ThisProcess, name: str
) -> None:
    feed = feed_of(tmp_path / "feed", name, events())
    file = tmp_path / "feed" / "b.jsonl"
    lines = file.read_text().splitlines()
    lines[30] = lines[40] = '{"value": "e30="}'
    file.write_text("\n".join(lines) + "\n")
    texts = []
    for workers in (HERE, readers):
        with pytest.raises(FeedError) as error:
            compare_feeds(feed, feed, workers=workers)
        texts.append(str(error.value))
    assert texts[0] == texts[1]
    assert "b.jsonl:31: byte " in texts[0]
    options = CompareOptions(on_error="row")
    alone, together = (compare_feeds(feed, feed, options, workers=w) for w in (HERE, readers))
    assert without_time(alone) == without_time(together)
    assert together.errors == 4  # two of each side


def pieces_of(folder: Path) -> Work[Piece]:
    return work_of_lines(parse_source(f"canal-json:file:{folder}"), 1, SHARE)


def own_id(pieces: Sequence[Piece]) -> Iterator[Numbered]:
    """Yield the id of the process that reads, and the names of the files."""
    names = [Path(each.file).name for each in pieces]
    yield 0, pa.record_batch({"id": [os.getpid()] * len(names), "file": names})


def test_shares_are_read_elsewhere_and_come_in_order(tmp_path: Path, readers: ThisProcess) -> None:
    feed_of(tmp_path / "feed", "canal-json", events())
    shares = pieces_of(tmp_path / "feed")
    found = [batch.to_pydict() for _, batch in readers.in_order(shares, own_id)]
    assert len(found) == len(shares.shares) > 4
    assert os.getpid() not in {number for each in found for number in each["id"]}
    names = [name for each in found for name in each["file"]]
    assert names == [Path(piece.file).name for share in shares.shares for piece in share]


def test_a_large_compressed_file_is_read_here(tmp_path: Path, readers: ThisProcess) -> None:
    feed_of(tmp_path / "feed", "canal-json", events())
    file = tmp_path / "feed" / "b.jsonl"
    (tmp_path / "feed" / "b.jsonl.gz").write_bytes(gzip.compress(file.read_bytes()))
    file.unlink()
    found = [
        batch.to_pydict() for _, batch in readers.in_order(pieces_of(tmp_path / "feed"), own_id)
    ]
    ids = {
        name: number
        for each in found
        for name, number in zip(each["file"], each["id"], strict=True)
    }
    assert ids["b.jsonl.gz"] == os.getpid() != ids["a.jsonl"]


def killed(number: int, share: Sequence[Piece]) -> list[int]:
    os.kill(os.getpid(), signal.SIGKILL)
    return []


def test_a_process_that_is_killed_is_an_error_in_one_line(tmp_path: Path) -> None:
    feed_of(tmp_path / "feed", "canal-json", events())
    with (
        pytest.raises(FeedError, match=r"^a process that read a feed has ended too soon.*--jobs 1"),
        reading_processes(2) as workers,
    ):
        workers.found(pieces_of(tmp_path / "feed"), killed)


def test_small_feeds_start_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decode_workers, "LEAST_BYTES", 1 << 30)
    monkeypatch.setattr(decode_workers, "process_pool", None)
    feed_of(tmp_path / "feed", "canal-json", events())
    with reading_processes(8) as workers:
        found = list(workers.in_order(pieces_of(tmp_path / "feed"), own_id))
    assert [batch.column("id").unique().to_pylist() for _, batch in found] == [[os.getpid()]]


PROGRAM = """
import sys
from cdcwire_conformance.cli import main
from cdcwire_conformance.decode import workers

workers.LEAST_BYTES = workers._LEAST_SHARE_BYTES = 4_000
print("the program runs")
sys.exit(main(["compare", sys.argv[1], sys.argv[1], "--jobs", "2", "--engine", "embedded"]))
"""


def test_a_program_that_compares_runs_once(tmp_path: Path) -> None:
    feed_of(tmp_path / "feed", "canal-json", events())
    (tmp_path / "program.py").write_text(PROGRAM)
    words = [sys.executable, str(tmp_path / "program.py"), f"canal-json:file:{tmp_path / 'feed'}"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout.count("the program runs") == 1
    assert f"EQUAL: {ROWS} changes" in done.stdout


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_the_command_takes_a_number(
    tmp_path: Path, jobs: str, capsys: pytest.CaptureFixture[str]
) -> None:
    feed_of(tmp_path / "feed", "maxwell-json", events())
    url = f"maxwell-json:file:{tmp_path / 'feed'}"
    assert main(["compare", url, url, "--jobs", jobs, "--engine", "embedded"]) == 0
    assert "EQUAL" in capsys.readouterr().out
