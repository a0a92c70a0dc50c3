"""Disks that get full: a broker's, an object store's, and that of a directory."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import pytest

from cdcwire.core.context import Context
from cdcwire.files.stores import LocalStore, StoreError, open_store
from cdcwire.model.steps import drop_repeats
from cdcwire_conformance.sources.storage.checking import check_prefix
from cdcwire_conformance.sources.storage.writing import PrefixWriter
from cdcwire_evidence import program
from cdcwire_evidence.scenarios import load_requirement, small_disk
from cdcwire_evidence.scenarios.containers import KafkaContainer, MinioContainer
from cdcwire_evidence.scenarios.everywhere import keys, make_bucket, name_of, s3_client
from cdcwire_evidence.scenarios.feeds import events_of, make_feed
from cdcwire_evidence.scenarios.ledger import count, record_not_run, recorded
from cdcwire_evidence.scenarios.prefixes import (
    OPTIONS,
    events_of_sink,
    go_on,
    replayed,
    replayed_with_faults,
    rows_of,
    undisturbed,
    write_all,
)
from cdcwire_evidence.scenarios.services import NewName, NotRunError, UseStore
from cdcwire_evidence.scenarios.topics import consume, make_topic, produce

ROWS = 120
BALLAST_MIB = 12


@pytest.fixture
def mounts(tmp_path: Path) -> None:
    """Skip a scenario where a program may not have private mounts."""
    try:
        small_disk.run_on_a_small_disk(tmp_path, "true")
    except NotRunError as error:
        record_not_run("directory/disk-full", "a full disk under a directory", str(error))
        pytest.skip(str(error))


def test_broker_with_a_full_disk_loses_nothing_it_took(
    small_broker: KafkaContainer, new_name: NewName
) -> None:
    with recorded(
        "fault/broker-disk-full",
        "the broker's disk gets full while a feed is written",
        "The broker keeps its log on 16 MiB and ends when they are full. The producer gets an "
        "error for each message without an answer within some seconds. With free space again, it "
        "has every message that it acknowledged, once and in order, and the feed goes on from the "
        "first one that it did not; of those, some may come twice.",
    ) as result:
        feed = make_feed("canal-json", 8000, options={"enable-tidb-extension": True})
        kafka, topic, ballast = small_broker.service, new_name("full"), f"{small_broker.LOG}/x"
        make_topic(kafka, topic)
        block = f"of={ballast}"
        small_broker.run("dd", "if=/dev/zero", block, "bs=1M", f"count={BALLAST_MIB}")
        hasty = {"delivery.timeout.ms": 6000, "request.timeout.ms": 3000}
        refused = produce(kafka, topic, feed.messages, settings=hasty)
        small_broker.run("rm", ballast)
        small_broker.wait()
        first = refused[0].number
        assert [each.number for each in refused] == list(range(first, len(feed.messages)))
        taken = [each.message for each in consume(kafka, topic)]
        assert taken[:first] == list(feed.messages[:first])
        assert produce(kafka, topic, feed.messages[first:]) == []
        got = [each.message for each in consume(kafka, topic)]
        result.counts = count({0: feed.messages}, {0: got})
        result.figures = {"acknowledged before": first, "refused aloud": len(refused)}
        assert (result.counts.lost, result.counts.invented) == (0, 0)
        assert result.counts.repeated == len(taken) - first
        changes = list(drop_repeats(events_of(feed, got)))
        assert changes == events_of(feed, feed.messages)


def test_store_with_a_full_disk_refuses_and_loses_nothing(
    small_store: MinioContainer,
    use_store: UseStore,
    new_name: NewName,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with recorded(
        "bucket/store-disk-full",
        "the object store's disk gets full while a sink writes",
        "MinIO keeps its objects on 64 MiB, which another client fills. The sink's next put is "
        "refused, and it fails with one line; a reader still gets all below the checkpoint. When "
        "there is room again the sink goes on from there: every change once.",
    ) as result:
        monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
        use_store(small_store.service)
        bucket, ballast = make_bucket(new_name("feed")), name_of(make_bucket(new_name("ballast")))
        context, events = Context(OPTIONS["csv"]), events_of_sink(ROWS)
        writer = PrefixWriter(open_store(bucket), "csv", context)
        half = len(events) // 2
        write_all(writer, events[:half])
        fill_store(ballast)
        with pytest.raises(StoreError) as failure:
            write_all(writer, events[half:])
        assert "\n" not in str(failure.value)
        assert "minimum free drive" in str(failure.value)
        wanted = undisturbed(tmp_path, "csv", ROWS)
        early = rows_of(replayed(open_store(bucket), "csv", context, allowed={"index-missing"}))
        make_room(ballast)
        go_on(writer, events)
        checked = check_prefix(open_store(bucket), "csv", context)
        assert checked.faults == []
        got = rows_of(replayed(open_store(bucket), "csv", context))
        result.counts = count({0: wanted}, {0: got})
        result.figures = {"rows below the checkpoint while it was full": len(early)}
        assert result.counts.is_exact
        assert 0 < len(early) < len(wanted)
        assert set(early) <= set(wanted)


@pytest.mark.usefixtures("mounts")
def test_directory_on_a_full_disk_loses_nothing(tmp_path: Path) -> None:
    with recorded(
        "directory/disk-full",
        "the disk under a directory gets full while a sink writes",
        "Six feeds, index before or behind the data, meet a disk with no room left, or with room "
        "for a part of a file. Each sink fails with one line; what it could not write whole is "
        "not there, and what was there before is. When there is room again each goes on from its "
        "checkpoint: every change, and those at one commit ts as often as the rules let them "
        "come again.",
    ) as result:
        folder = tmp_path / "disk"
        folder.mkdir()
        command = program("scenarios.small_disk", str(folder))
        ran = small_disk.run_on_a_small_disk(folder, *command)
        assert (ran.returncode, ran.stderr) == (0, "")
        found = [small_disk.FullDisk(**json.loads(line)) for line in ran.stdout.splitlines()]
        assert len(found) == len(small_disk.ORDERS) * len(small_disk.LEFT_KIB)
        sent, got = {}, {}
        for each in found:
            case = (each.write_order, each.left_kib)
            here = tmp_path / f"{each.write_order}-{each.left_kib}"
            sent[case] = undisturbed(here, "csv", small_disk.ROWS, each.write_order)
            got[case] = each.rows
            assert "No space left on device" in each.refused
            assert "\n" not in each.refused
            assert 0 < len(each.rows_while_full) < len(sent[case])
            assert set(each.rows_while_full) <= set(sent[case])
            assert all("there is no index file" in fault for fault in each.faults_while_full)
            assert each.faults == []
        result.counts = count(sent, got)
        result.figures = {"feeds": len(found)}
        assert (result.counts.lost, result.counts.invented, result.counts.out_of_order) == (0, 0, 0)
        assert result.counts.repeated <= len(found)
        assert not list(folder.iterdir())  # the disk was nobody else's


@pytest.mark.quick
@pytest.mark.usefixtures("mounts")
def test_generate_on_a_full_disk_is_one_line(tmp_path: Path) -> None:
    with recorded(
        "directory/generate-disk-full",
        "`cdcwire generate` writes a prefix on a disk that gets full",
        "The command ends with exit code 2 and one line that names the file and the reason. "
        "Nothing of the prefix is left.",
    ) as result:
        program = f"'{sys.executable}' -m cdcwire_conformance"
        line = (
            f"{program} generate --workload storage --rows 30000 --to {tmp_path}/feed csv "
            f"--option include-commit-ts=true; echo $?; ls -A {tmp_path}"
        )
        ran = small_disk.run_on_a_small_disk(tmp_path, "sh", "-c", line)
        code, *left = ran.stdout.splitlines()
        (error,) = ran.stderr.splitlines()
        result.figures = {"said": error}
        assert code == "2"
        assert error.startswith(f"cdcwire generate: {tmp_path}/feed/")
        assert error.endswith("No space left on device")
        assert left == []


def test_the_check_goes_red_when_a_refusal_is_not_heard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sink that takes a refused put for a good one loses rows, and the count says so."""
    place, context = LocalStore(tmp_path / "deaf"), Context(OPTIONS["csv"])
    put, numbers = place.put, iter(range(1_000_000))

    def deaf(path: str, value: bytes) -> None:
        if next(numbers) not in (30, 31):  # the disk was full for a file and its index
            put(path, value)

    monkeypatch.setattr(place, "put", deaf)
    writer = PrefixWriter(place, "csv", context)
    write_all(writer, events_of_sink(ROWS))
    writer.close()
    got = rows_of(replayed_with_faults(place, "csv", context)[0])
    counts = count({0: undisturbed(tmp_path / "whole", "csv", ROWS)}, {0: got})
    assert counts.lost > 0
    assert not counts.is_exact


def fill_store(name: str) -> None:
    """Put objects into a bucket until the store takes no more, of any size."""
    client = s3_client()
    error = load_requirement("botocore.exceptions", "S3").ClientError
    for size in (4 << 20, 1 << 20, 1 << 10):
        for number in range(1000):
            try:
                client.put_object(Bucket=name, Key=f"{size}-{number}", Body=bytes(size))
            except error:
                break


def make_room(name: str, seconds: float = 30.0) -> None:
    """Remove all objects of a bucket and wait until the store has free space again."""
    client = s3_client()
    error = load_requirement("botocore.exceptions", "S3").ClientError
    for key in list(keys(client, name)):
        client.delete_object(Bucket=name, Key=key)
    end = time.monotonic() + seconds
    while True:
        try:
            client.put_object(Bucket=name, Key="room", Body=b"x")
        except error:
            assert time.monotonic() < end, "the store still says that it is full"
            time.sleep(0.5)
        else:
            return
