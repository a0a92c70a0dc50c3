"""Storage prefixes in a real object store: written, followed, broken, and read back."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from cdcwire.core.context import Context
from cdcwire.core.options import OptionValue
from cdcwire.files.prefix import PrefixFile, list_prefix, stored_form
from cdcwire.files.prefix_events import read_events
from cdcwire.files.stores import Store, StoreError, open_store
from cdcwire.model.events import Event, Position, Progress, RowChange
from cdcwire.registry import get_format
from cdcwire.storage import (
    ApplySchema,
    Fault,
    Listing,
    ReadFile,
    ReplayState,
    RowGate,
    read_schema_file,
    replay,
)
from cdcwire.storage.small_files import is_expired, oldest_kept_date
from cdcwire_conformance.sources.storage.checking import check_prefix
from cdcwire_conformance.sources.storage.writing import (
    PrefixWriter,
    WriterSettings,
    catch_up,
    restart_points,
    write_prefix,
)
from cdcwire_evidence.scenarios.containers import MinioContainer
from cdcwire_evidence.scenarios.everywhere import (
    make_bucket,
    name_of,
    objects,
    put_in_parts,
    s3_client,
)
from cdcwire_evidence.scenarios.ledger import count, recorded
from cdcwire_evidence.scenarios.prefixes import (
    OPTIONS,
    by_row,
    events_of_sink,
    go_on,
    replayed,
    replayed_with_faults,
    rows_of,
    text_of,
    undisturbed,
    undisturbed_events,
    write_all,
)
from cdcwire_evidence.scenarios.services import NewName, UseStore

ROWS = 120


@pytest.mark.parametrize("separator", ["none", "year", "month", "day"])
@pytest.mark.parametrize("write_order", ["data-first", "index-first"])
@pytest.mark.parametrize("format_name", ["csv", "canal-json"])
def test_prefix_comes_back_from_a_bucket(
    bucket: str, tmp_path: Path, format_name: str, write_order: Any, separator: str
) -> None:
    with recorded(
        f"bucket/{format_name}-{write_order}-{separator}",
        f"{format_name} in a bucket, {write_order}, dates by {separator}",
        "A stream with schema changes, partitions and a rename is written by a sink that is killed "
        "twice and goes on from its checkpoint. The bucket's rules hold, its objects are those of "
        "the same run into a directory, and replay gives every change.",
    ) as result:
        context = Context({**OPTIONS[format_name], "date-separator": separator})
        settings = WriterSettings(write_order)
        for target in (bucket, str(tmp_path)):
            writer = PrefixWriter(open_store(target), format_name, context, settings)
            write_prefix(writer, events_of_sink(ROWS), restart_points(ROWS, 2))
        place = open_store(bucket)
        checked = check_prefix(place, format_name, context, write_order=write_order)
        assert checked.faults == []
        here, there = open_store(str(tmp_path)), objects(bucket)
        assert there == {each.path: here.read(each.path) for each in here.list()}
        sent, got = (replayed(each, format_name, context, write_order) for each in (here, place))
        result.counts = count({0: list(map(text_of, sent))}, {0: list(map(text_of, got))})
        result.figures = {"objects": len(there), "repeats left out": checked.repeats}
        assert result.counts.is_exact
        assert len(rows_of(got)) >= ROWS


@pytest.mark.parametrize("format_name", ["csv", "canal-json"])
def test_reader_that_follows_sees_growing_prefixes(
    bucket: str, tmp_path: Path, format_name: str
) -> None:
    with recorded(
        f"bucket/followed-{format_name}",
        f"{format_name} read while it is written",
        "A reader replays the bucket again and again while the sink writes. Each time it gets what "
        "is below the checkpoint: the beginning of the stream, never less than before. What it "
        "finds unfinished is an object whose index is not put yet, and nothing else.",
    ) as result:
        context = Context(OPTIONS[format_name])
        writer = PrefixWriter(open_store(bucket), format_name, context)
        writing = threading.Thread(target=write_prefix, args=(writer, events_of_sink(2 * ROWS)))
        looks: list[dict[Hashable, list[str]]] = []
        writing.start()
        place = open_store(bucket)
        while writing.is_alive():
            try:
                found = replayed(place, format_name, context, "data-first", {"index-missing"})
            except StoreError:  # there is nothing yet
                assert not looks
                continue
            looks.append(by_row(found))
        writing.join()
        last = replayed(place, format_name, context, "data-first")
        wanted, whole = undisturbed(tmp_path, format_name, 2 * ROWS), rows_of(last)
        for earlier, later in zip(looks, [*looks[1:], by_row(last)], strict=True):
            for row, changes in earlier.items():
                assert later[row][: len(changes)] == changes
        result.counts = count({0: wanted}, {0: whole})
        part = sum(0 < sum(map(len, look.values())) < len(whole) for look in looks)
        result.figures = {"looks": len(looks), "looks at a part": part}
        assert result.counts.is_exact
        assert part > 1


def test_store_killed_during_a_put_loses_nothing(
    own_store: MinioContainer,
    use_store: UseStore,
    new_name: NewName,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with recorded(
        "bucket/store-killed",
        "object store killed while a sink writes",
        "MinIO is ended by SIGKILL between two puts and started again. The sink fails with one "
        "line, goes on from its checkpoint, and replay gives every change once.",
    ) as result:
        use_store(own_store.service)
        bucket = make_bucket(new_name("feed"))
        monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
        context = Context(OPTIONS["csv"])
        events = events_of_sink(ROWS)
        writer = PrefixWriter(open_store(bucket), "csv", context)
        half = len(events) // 2
        for event in events[:half]:
            writer.write(event)
        own_store.kill()
        with pytest.raises(StoreError) as failure:
            write_all(writer, events[half:])
        assert "\n" not in str(failure.value)
        own_store.restart()
        own_store.wait()
        go_on(writer, events)
        place = open_store(bucket)
        checked = check_prefix(place, "csv", context)
        assert checked.faults == []
        got = rows_of(replayed(place, "csv", context, "data-first"))
        result.counts = count({0: undisturbed(tmp_path, "csv", ROWS)}, {0: got})
        result.figures = {"repeats left out": checked.repeats}
        assert result.counts.is_exact


@pytest.mark.parametrize("fault", ["truncated", "overwritten", "removed"])
def test_spoilt_objects_are_named(bucket: str, fault: str) -> None:
    with recorded(
        f"bucket/{fault}",
        f"one object {fault}",
        "Of a good bucket one data object is spoilt by another client. The check names that object "
        "and no other.",
    ) as result:
        context = Context(OPTIONS["csv"])
        write_prefix(PrefixWriter(open_store(bucket), "csv", context), events_of_sink(ROWS))
        assert check_prefix(open_store(bucket), "csv", context).faults == []
        client, name = s3_client(), name_of(bucket)
        data = sorted(path for path in objects(bucket) if path.endswith("1.csv"))
        spoilt, other = data[0], data[-1]
        if fault == "truncated":
            client.put_object(Bucket=name, Key=spoilt, Body=objects(bucket)[spoilt][:-7])
        elif fault == "overwritten":
            client.copy_object(Bucket=name, Key=spoilt, CopySource={"Bucket": name, "Key": other})
        else:
            client.delete_object(Bucket=name, Key=spoilt)
        found = check_prefix(open_store(bucket), "csv", context).faults
        result.figures = {"faults": len(found), "first": str(found[0]) if found else ""}
        assert found
        assert {each.path for each in found} <= {spoilt, spoilt.rpartition("/")[0]}


def test_object_put_in_parts_is_read_whole(bucket: str) -> None:
    with recorded(
        "bucket/multipart",
        "a data object put in parts",
        "A data object of more than 5 MiB, uploaded in parts by another client, reads as one. "
        "Another upload, of which the parts are put and never completed, is no object.",
    ) as result:
        context = Context(OPTIONS["csv"])
        write_prefix(PrefixWriter(open_store(bucket), "csv", context), events_of_sink(ROWS))
        path = sorted(path for path in objects(bucket) if path.endswith("1.csv"))[0]
        raw = objects(bucket)[path]
        times = (6 << 20) // len(raw) + 1
        before = check_prefix(open_store(bucket), "csv", context)
        put_in_parts(bucket, path, raw * times)
        put_in_parts(bucket, path.replace("1.csv", "9.csv"), raw * times, is_completed=False)
        assert open_store(bucket).read(path) == raw * times
        after = check_prefix(open_store(bucket), "csv", context)
        result.figures = {"bytes": len(raw) * times, "rows": after.rows}
        assert after.faults == before.faults == []
        assert after.rows - before.rows == raw.count(b"\r\n") * (times - 1)


@pytest.mark.parametrize(
    ("separator", "is_partitioned", "digits", "write_order"),
    [
        ("none", True, 20, "data-first"),
        ("none", False, 6, "index-first"),
        ("day", False, 6, "data-first"),
        ("month", True, 6, "index-first"),
    ],
)
def test_sink_goes_on_with_the_number_after_its_index(
    bucket: str,
    tmp_path: Path,
    separator: str,
    is_partitioned: bool,
    digits: int,
    write_order: Any,
) -> None:
    parts = "partitions" if is_partitioned else "no partitions"
    with recorded(
        f"bucket/numbers-{separator}-{parts.replace(' ', '-')}-{digits}-{write_order}",
        f"numbers by the index: dates by {separator}, {parts}, {digits} digits, {write_order}",
        "A sink is killed five times and goes on with the number that its index gives. No object "
        "that an index counted is put again, and the numbers of each folder have no hole.",
    ) as result:
        options: dict[str, OptionValue] = {
            **OPTIONS["csv"],
            "date-separator": separator,
            "enable-partition-separator": is_partitioned,
            "file-index-digit": digits,
        }
        context, place = Context(options), open_store(bucket)
        writer = PrefixWriter(place, "csv", context, WriterSettings(write_order))
        events, stamps, put_again = events_of_sink(ROWS), dict[str, str](), 0
        for end in (*restart_points(len(events), 5), len(events)):
            catch_up(writer, events[:end])
            writer.kill() if end < len(events) else writer.close()
            writer = writer.restarted()
            now = {each.path: each.stamp for each in place.list() if "/CDC0" in each.path}
            put_again += sum(now[path] != stamp for path, stamp in stamps.items())
            last = {
                path.removesuffix("meta/CDC.index"): value.decode().rstrip()
                for path, value in objects(bucket).items()
                if path.endswith("meta/CDC.index")
            }
            stamps = {
                path: stamp
                for path, stamp in now.items()
                if path.rpartition("/")[2] <= last.get(f"{path.rpartition('/')[0]}/", "")
            }
        names = [path.rpartition("/") for path in now]
        folders = {folder for folder, _, _ in names}
        for folder in folders:
            numbers = sorted(int(name[3:-4]) for there, _, name in names if there == folder)
            assert numbers == list(range(1, len(numbers) + 1))
        assert {len(name) for _, _, name in names} == {len("CDC.csv") + digits}
        # Schema, table and version; partitions of the one table that has some; the date.
        least = 2 + (separator != "none")
        depths = {folder.count("/") for folder in folders}
        assert depths == ({least, least + 1} if is_partitioned else {least})
        assert put_again == 0
        assert check_prefix(place, "csv", context, write_order=write_order).faults == []
        wanted = undisturbed(tmp_path, "csv", ROWS, write_order, options)
        got = rows_of(replayed(place, "csv", context, write_order))
        result.counts = count({0: sorted(wanted)}, {0: sorted(got)})
        result.figures = {"objects": len(now)}
        assert (result.counts.lost, result.counts.invented) == (0, 0)


def test_checkpoint_that_lags_hides_what_is_above_it(bucket: str, tmp_path: Path) -> None:
    with recorded(
        "bucket/checkpoint-lags",
        "a checkpoint that lags behind the objects",
        "The sink puts its checkpoint with schema changes only. A reader gets what is below it, "
        "all of that and nothing else, however many objects there are; when the sink closes, the "
        "rest.",
    ) as result:
        context, place = Context(OPTIONS["csv"]), open_store(bucket)
        settings = WriterSettings(flush_interval_ms=1, metadata_interval_ms=1 << 40)
        writer = PrefixWriter(place, "csv", context, settings)
        events, begin, looks = events_of_sink(ROWS), 0, []
        for end in (len(events) // 3, len(events) // 2, len(events)):
            write_all(writer, events[begin:end])
            begin = end
            looks.append(look(place, context))
        writer.close()
        looks.append(look(place, context))
        wanted = undisturbed_events(tmp_path, "csv", ROWS)
        for each in looks:
            below = [row for row in wanted if (row.position.commit_ts or 0) < each.checkpoint]
            assert sorted(each.rows) == sorted(rows_of(below))
        beyond = [each.beyond for each in looks]
        result.counts = count({0: sorted(rows_of(wanted))}, {0: sorted(looks[-1].rows)})
        result.figures = {"rows put, above the checkpoint": " then ".join(map(str, beyond))}
        assert result.counts.is_exact
        assert min(beyond[:-1]) > 0 == beyond[-1]


def test_expired_dates_leave_the_rest_readable(bucket: str, tmp_path: Path) -> None:
    with recorded(
        "bucket/expired-dates",
        "dates that expired before a reader begins",
        "Data and index files of dates before the checkpoint's, less one day, are removed, as the "
        "producer does with file-expiration-days = 1. A reader that begins then gets every change "
        "of the other dates, finds no fault, and can tell from which date on it has all.",
    ) as result:
        context, place = Context(OPTIONS["csv"]), open_store(bucket)
        write_prefix(PrefixWriter(place, "csv", context), events_of_sink(ROWS))
        checkpoint, there = look(place, context).checkpoint, objects(bucket)
        layout = stored_form(get_format("csv")).settings(context).layout
        # 2^18 of a checkpoint are a millisecond; of dates as text the smaller is the earlier.
        ended = datetime.fromtimestamp((checkpoint >> 18) / 1000, timezone.utc)
        first = (ended - timedelta(days=1)).date().isoformat()
        dated = [(part, path) for path in there for part in path.split("/") if part[:3] == "202"]
        gone = [path for date, path in dated if date < first]
        assert [path for path in there if is_expired(path, layout, checkpoint, 1)] == gone
        rows_gone = sum(there[path].count(b"\r\n") for path in gone if path.endswith(".csv"))
        remove(bucket, gone)
        found = check_prefix(place, "csv", context)
        wanted, got = undisturbed(tmp_path, "csv", ROWS), look(place, context)
        counts = count({0: sorted(wanted)}, {0: sorted(got.rows)})
        result.figures = {
            "objects expired": len(gone),
            "rows in them": rows_gone,
            "rows read": counts.received,
            "of": counts.sent,
            "all are there from": first,
        }
        assert found.faults == []
        assert counts.invented == counts.repeated == 0
        assert counts.lost == rows_gone
        assert rows_gone > 0
        assert oldest_kept_date(checkpoint, 1) == first


def test_objects_that_expired_unread_are_named(bucket: str, tmp_path: Path) -> None:
    with recorded(
        "bucket/expired-unread",
        "a bucket's own rule removes old objects before they are read",
        "Such a rule goes by age: the first objects of a folder are gone, later ones and the index "
        "are there. The reader names the first one that is missing, holds back what follows in "
        "that table, and reads all other tables.",
    ) as result:
        context, place = Context({**OPTIONS["csv"], "date-separator": "none"}), open_store(bucket)
        write_prefix(PrefixWriter(place, "csv", context), events_of_sink(ROWS))
        data = sorted(path for path in objects(bucket) if path.endswith(".csv"))
        old = [path for path in data if path.startswith("shop/users/") and path.endswith("01.csv")]
        remove(bucket, old)
        events, faults = replayed_with_faults(place, "csv", context)
        wanted = undisturbed_events(tmp_path, "csv", ROWS, options=context.options)
        others = [row for row in wanted if isinstance(row, RowChange) and row.table.name != "users"]
        got = [row for row in events if isinstance(row, RowChange) and row.table.name != "users"]
        result.counts = count({0: sorted(rows_of(others))}, {0: sorted(rows_of(got))})
        result.figures = {"said": str(faults[0]) if faults else ""}
        assert [(fault.kind, fault.path) for fault in faults] == [("hole", old[0])]
        assert result.counts.is_exact
        assert len(others) < len(rows_of(wanted))


def test_objects_that_expired_after_a_reader_are_not_missed(bucket: str, tmp_path: Path) -> None:
    with recorded(
        "bucket/expired-followed",
        "objects expire while a reader follows",
        "After each look of the reader everything that it has read is removed, while the sink "
        "writes on. The reader, which knows what it has read, gets each change once and misses "
        "nothing.",
    ) as result:
        context, place = Context(OPTIONS["csv"]), open_store(bucket)
        writer, events, rows = PrefixWriter(place, "csv", context), events_of_sink(ROWS), []
        state, gate, begin, removed = ReplayState(), RowGate(), 0, 0
        for end in range(len(events) // 4, len(events) + 1, len(events) // 4):
            write_all(writer, events[begin:end])
            begin = end
            if end + len(events) // 4 > len(events):
                write_all(writer, events[end:])
                writer.close()
            else:  # all that is put is below the checkpoint
                position = Position(commit_ts=events[end].position.commit_ts)
                writer.write(Progress("checkpoint", position))
            found, state = look_again(place, context, state, gate)
            rows += rows_of(found)
            data = [path for path in objects(bucket) if path.endswith(".csv")]
            remove(bucket, data)
            removed += len(data)
        result.counts = count({0: sorted(undisturbed(tmp_path, "csv", ROWS))}, {0: sorted(rows)})
        result.figures = {"objects expired": removed}
        assert result.counts.is_exact


@dataclass(frozen=True, slots=True)
class Look:
    """The result of a reader. ``beyond``: rows that had arrived, and not below the checkpoint."""

    checkpoint: int
    rows: list[str]
    beyond: int


def look(place: Store, context: Context) -> Look:
    """Read a prefix that has no faults."""
    prefix = list_prefix(place, get_format("csv"), context)
    gate, faults = RowGate(prefix.checkpoint), list[Fault]()
    rows = rows_of(read_events(place, prefix, context, faults.append, gate))
    assert faults == []
    assert prefix.checkpoint is not None
    return Look(prefix.checkpoint, rows, gate.beyond)


def look_again(
    place: Store, context: Context, state: ReplayState, gate: RowGate
) -> tuple[list[Event], ReplayState]:
    """Read what is new since the last look, and find no fault."""
    prefix = list_prefix(place, get_format("csv"), context)
    schema_files = {
        path: read_schema_file(place.read(path)) for path in prefix.listed if "/schema_" in path
    }
    listing = Listing(prefix.listed, schema_files, prefix.index_numbers)
    layout, checkpoint = prefix.settings.layout, prefix.checkpoint
    found = replay(listing, layout, checkpoint, newer=True, state=state)
    assert found.faults == ()
    steps: list[ApplySchema | PrefixFile] = []
    for step in found.steps:
        if isinstance(step, ReadFile):
            there = prefix.listed[step.path]
            url = f"{place.url}/{step.path}"
            steps.append(PrefixFile(step.path, url, there.size, there.stamp, step.parsed))
        else:
            steps.append(step)
    gate.checkpoint = checkpoint
    faults: list[Fault] = []
    now = replace(prefix, steps=tuple(steps), faults=())
    events = list(read_events(place, now, context, faults.append, gate))
    assert faults == []
    return events, found.state


def remove(bucket: str, paths: Iterable[str]) -> None:
    """Remove objects, as a rule of the store's own does."""
    client = s3_client()
    for path in paths:
        client.delete_object(Bucket=name_of(bucket), Key=path)
