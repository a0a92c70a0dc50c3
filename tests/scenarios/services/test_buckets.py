"""Storage prefixes in a real object store: written, followed, broken, and read back."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cdcwire.format import Context, OptionValue
from cdcwire.model.events import Event, RowChange
from cdcwire.model.text import event_to_json
from cdcwire.storage import Fault
from cdcwire_conformance.extras import load_extra
from cdcwire_conformance.scenarios.containers import MinioContainer
from cdcwire_conformance.scenarios.feeds import row_of
from cdcwire_conformance.scenarios.ledger import count, telling
from cdcwire_conformance.scenarios.services import ObjectStore
from cdcwire_conformance.storage.checking import check_prefix
from cdcwire_conformance.storage.generating import restart_points, write_prefix
from cdcwire_conformance.storage.places import PlaceError, open_place
from cdcwire_conformance.storage.reading import list_prefix, read_events
from cdcwire_conformance.storage.writing import PrefixWriter, WriterSettings
from cdcwire_generators.workloads import evolving_workload

ROWS = 120
OPTIONS: dict[str, dict[str, OptionValue]] = {
    "csv": {"include-commit-ts": True},
    "canal-json": {"transport": "storage", "enable-tidb-extension": True},
}

NewName = Callable[[str], str]


@pytest.fixture
def bucket(store: ObjectStore, new_name: NewName, monkeypatch: pytest.MonkeyPatch) -> str:
    """The URL of a new bucket, which fsspec and boto3 find by the environment."""
    return new_bucket(store, new_name("feed"), monkeypatch)


@pytest.mark.parametrize("separator", ["none", "year", "month", "day"])
@pytest.mark.parametrize("write_order", ["data-first", "index-first"])
@pytest.mark.parametrize("format_name", ["csv", "canal-json"])
def test_prefix_comes_back_from_a_bucket(
    bucket: str, tmp_path: Path, format_name: str, write_order: Any, separator: str
) -> None:
    with telling(
        f"bucket/{format_name}-{write_order}-{separator}",
        f"{format_name} in a bucket, {write_order}, dates by {separator}",
        "A stream with schema changes, partitions and a rename is written by a sink that is killed "
        "twice and goes on from its checkpoint. The bucket's rules hold, its objects are those of "
        "the same run into a directory, and replay gives every change.",
    ) as story:
        context = Context({**OPTIONS[format_name], "date-separator": separator})
        settings = WriterSettings(write_order)
        for target in (bucket, str(tmp_path)):
            writer = PrefixWriter(open_place(target), format_name, context, settings)
            write_prefix(writer, evolving_workload(ROWS, 1), restart_points(ROWS, 2))
        place = open_place(bucket)
        checked = check_prefix(place, format_name, context, write_order=write_order)
        assert checked.faults == []
        here, there = open_place(str(tmp_path)), objects(bucket)
        assert there == {each.path: here.read(each.path) for each in here.list()}
        sent, got = (replayed(each, format_name, context, write_order) for each in (here, place))
        story.counts = count({0: list(map(text_of, sent))}, {0: list(map(text_of, got))})
        story.figures = {"objects": len(there), "repeats left out": checked.repeats}
        assert story.counts.is_exact
        assert len(rows_of(got)) >= ROWS


@pytest.mark.parametrize("format_name", ["csv", "canal-json"])
def test_reader_that_follows_sees_growing_prefixes(
    bucket: str, tmp_path: Path, format_name: str
) -> None:
    with telling(
        f"bucket/followed-{format_name}",
        f"{format_name} read while it is written",
        "A reader replays the bucket again and again while the sink writes. Each time it gets what "
        "is below the checkpoint: the beginning of the stream, never less than before. What it "
        "finds unfinished is an object whose index is not put yet, and nothing else.",
    ) as story:
        context = Context(OPTIONS[format_name])
        writer = PrefixWriter(open_place(bucket), format_name, context)
        writing = threading.Thread(
            target=write_prefix, args=(writer, list(evolving_workload(2 * ROWS, 1)))
        )
        looks: list[dict[Hashable, list[str]]] = []
        writing.start()
        place = open_place(bucket)
        while writing.is_alive():
            try:
                found = replayed(place, format_name, context, "data-first", {"index-missing"})
            except PlaceError:  # there is nothing yet
                continue
            looks.append(by_row(found))
        writing.join()
        last = replayed(place, format_name, context, "data-first")
        wanted, whole = undisturbed(tmp_path, format_name, 2 * ROWS), rows_of(last)
        for earlier, later in zip(looks, [*looks[1:], by_row(last)], strict=True):
            for row, changes in earlier.items():
                assert later[row][: len(changes)] == changes
        story.counts = count({0: wanted}, {0: whole})
        part = sum(0 < sum(map(len, look.values())) < len(whole) for look in looks)
        story.figures = {"looks": len(looks), "looks at a part": part}
        assert story.counts.is_exact
        assert part > 1


def test_store_killed_during_a_put_loses_nothing(
    own_store: MinioContainer, new_name: NewName, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with telling(
        "bucket/store-killed",
        "object store killed while a sink writes",
        "MinIO is ended by SIGKILL between two puts and started again. The sink fails with one "
        "line, goes on from its checkpoint, and replay gives every change once.",
    ) as story:
        bucket = new_bucket(own_store.service, new_name("feed"), monkeypatch)
        monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
        context = Context(OPTIONS["csv"])
        events = list(evolving_workload(ROWS, 1))
        writer = PrefixWriter(open_place(bucket), "csv", context)
        half = len(events) // 2
        for event in events[:half]:
            writer.write(event)
        own_store.kill()
        with pytest.raises(PlaceError) as failure:
            write_all(writer, events[half:])
        assert "\n" not in str(failure.value)
        own_store.restart()
        own_store.wait()
        writer = writer.restarted()
        for event in events:
            position = event.position.commit_ts
            assert position is not None
            if writer.checkpoint is None or position >= writer.checkpoint:
                writer.write(event)
        writer.close()
        place = open_place(bucket)
        checked = check_prefix(place, "csv", context)
        assert checked.faults == []
        got = rows_of(replayed(place, "csv", context, "data-first"))
        story.counts = count({0: undisturbed(tmp_path, "csv", ROWS)}, {0: got})
        story.figures = {"repeats left out": checked.repeats}
        assert story.counts.is_exact


@pytest.mark.parametrize("fault", ["truncated", "overwritten", "removed"])
def test_spoilt_objects_are_named(bucket: str, fault: str) -> None:
    with telling(
        f"bucket/{fault}",
        f"one object {fault}",
        "Of a good bucket one data object is spoilt by another client. The check names that object "
        "and no other.",
    ) as story:
        context = Context(OPTIONS["csv"])
        write_prefix(PrefixWriter(open_place(bucket), "csv", context), evolving_workload(ROWS, 1))
        assert check_prefix(open_place(bucket), "csv", context).faults == []
        client, name = s3_client(), bucket.removeprefix("s3://")
        data = sorted(path for path in objects(bucket) if path.endswith("1.csv"))
        spoilt, other = data[0], data[-1]
        if fault == "truncated":
            client.put_object(Bucket=name, Key=spoilt, Body=objects(bucket)[spoilt][:-7])
        elif fault == "overwritten":
            client.copy_object(Bucket=name, Key=spoilt, CopySource={"Bucket": name, "Key": other})
        else:
            client.delete_object(Bucket=name, Key=spoilt)
        found = check_prefix(open_place(bucket), "csv", context).faults
        story.figures = {"faults": len(found), "first": str(found[0]) if found else ""}
        assert found
        assert {each.path for each in found} <= {spoilt, spoilt.rpartition("/")[0]}


def test_object_put_in_parts_is_read_whole(bucket: str) -> None:
    with telling(
        "bucket/multipart",
        "a data object put in parts",
        "A data object of more than 5 MiB, uploaded in parts by another client, reads as one.",
    ) as story:
        context = Context(OPTIONS["csv"])
        write_prefix(PrefixWriter(open_place(bucket), "csv", context), evolving_workload(ROWS, 1))
        path = sorted(path for path in objects(bucket) if path.endswith("1.csv"))[0]
        raw = objects(bucket)[path]
        times = (6 << 20) // len(raw) + 1
        before = check_prefix(open_place(bucket), "csv", context)
        put_in_parts(bucket, path, raw * times)
        assert open_place(bucket).read(path) == raw * times
        after = check_prefix(open_place(bucket), "csv", context)
        story.figures = {"bytes": len(raw) * times, "rows": after.rows}
        assert after.rows - before.rows == raw.count(b"\r\n") * (times - 1)


def write_all(writer: PrefixWriter, events: Iterable[Event]) -> None:
    """Give events to a sink."""
    for event in events:
        writer.write(event)


def text_of(event: Event) -> str:
    """An event as it compares."""
    return repr(event_to_json(event))


def rows_of(events: Iterable[Event]) -> list[str]:
    """The row changes as they compare."""
    return [text_of(event) for event in events if isinstance(event, RowChange)]


def by_row(events: Iterable[Event]) -> dict[Hashable, list[str]]:
    """The changes of each row by their commit ts: replay orders only what is in one partition."""
    found: dict[Hashable, list[str]] = {}
    for event in sorted(events, key=lambda event: event.position.commit_ts or 0):
        if isinstance(event, RowChange):
            found.setdefault(row_of(event), []).append(text_of(event))
    return found


def undisturbed(folder: Path, format_name: str, rows: int) -> list[str]:
    """The row changes of a workload that went through a directory, where nothing happens."""
    context, place = Context(OPTIONS[format_name]), open_place(str(folder))
    write_prefix(PrefixWriter(place, format_name, context), evolving_workload(rows, 1))
    return rows_of(replayed(place, format_name, context, "data-first"))


def new_bucket(store: ObjectStore, name: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Make a bucket, and let fsspec and boto3 find the store by the environment."""
    for variable, value in store.environment.items():
        monkeypatch.setenv(variable, value)
    load_extra("s3fs", "scenarios", "S3").S3FileSystem.clear_instance_cache()
    s3_client().create_bucket(Bucket=name)
    return f"s3://{name}"


def s3_client() -> Any:
    """Return a client of its own kind, boto3."""
    return load_extra("boto3", "scenarios", "S3").client("s3")


def objects(bucket: str) -> dict[str, bytes]:
    """Read all objects by boto3."""
    client, name = s3_client(), bucket.removeprefix("s3://")
    return {
        key: client.get_object(Bucket=name, Key=key)["Body"].read() for key in keys(client, name)
    }


def keys(client: Any, name: str) -> Iterator[str]:
    """Yield the names of all objects."""
    for page in client.get_paginator("list_objects_v2").paginate(Bucket=name):
        for each in page.get("Contents", ()):
            yield each["Key"]


def put_in_parts(bucket: str, key: str, value: bytes) -> None:
    """Upload an object in parts of 5 MiB."""
    client, name, size = s3_client(), bucket.removeprefix("s3://"), 5 << 20
    upload = client.create_multipart_upload(Bucket=name, Key=key)["UploadId"]
    parts = []
    for number, start in enumerate(range(0, len(value), size), start=1):
        body = value[start : start + size]
        told = {"Bucket": name, "Key": key, "UploadId": upload, "PartNumber": number}
        parts.append({"PartNumber": number, "ETag": client.upload_part(**told, Body=body)["ETag"]})
    client.complete_multipart_upload(
        Bucket=name, Key=key, UploadId=upload, MultipartUpload={"Parts": parts}
    )


def replayed(
    place: Any,
    format_name: str,
    context: Context,
    write_order: Any,
    allowed: Collection[str] = (),
) -> list[Event]:
    """Replay a prefix that has no faults but those of the kinds that are allowed."""
    prefix = list_prefix(
        place, format_name, context.options, context.tables, write_order=write_order
    )
    faults: list[Fault] = []
    if prefix.checkpoint is None:
        return []  # nothing is promised yet
    events = list(read_events(place, prefix, context, faults.append))
    assert [fault for fault in faults if fault.kind not in allowed] == []
    return events
