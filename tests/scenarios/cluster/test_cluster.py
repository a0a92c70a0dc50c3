"""Jobs on a standalone cluster: the answers of one machine, also when executors and workers die."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cdcwire.core.context import Context
from cdcwire.files.messages_io import write_messages
from cdcwire.model.events import Event, Image, RowChange
from cdcwire.registry import get_format
from cdcwire_conformance.spark.jars import kafka_jars
from cdcwire_evidence.loopback import free_port
from cdcwire_evidence.scenarios.cluster import Answer, Cluster, answer_of, parent_of, wait_for
from cdcwire_evidence.scenarios.ledger import recorded
from cdcwire_generators.workloads import workload, workload_tables

pytest.importorskip("pyspark", reason="the extra spark is not installed")
ds = pytest.importorskip("pyarrow.dataset")

WORKLOAD = "orders-10"
KEY, CHANGED = 0, 3  # places of its columns: id, and quantity
ROWS, SEED = 8_000, 9
COPIES = 8  # so many files are one: decoding them takes long enough to be interrupted
FEEDS = ("craft:file:craft", "open-protocol:file:open-protocol")
# Before these, a job looks for the tables.
FIRST_STAGE_OF_COMPARING, FIRST_STAGE_OF_DECODING = 2, 1


def changes() -> list[RowChange]:
    return [event for event in workload(WORKLOAD, ROWS, SEED) if isinstance(event, RowChange)]


def write_feed(folder: Path, name: str, events: Iterable[Event], copies: int = 1) -> None:
    context = Context(tables=workload_tables(WORKLOAD))
    folder.mkdir()
    write_messages(str(folder / "0.jsonl"), get_format(name).from_events(events, context=context))
    for number in range(1, copies):
        shutil.copyfile(folder / "0.jsonl", folder / f"{number}.jsonl")


@pytest.fixture(scope="module")
def feeds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with N copies of the same changes in both formats."""
    folder = tmp_path_factory.mktemp("feeds")
    for name in ("craft", "open-protocol"):
        write_feed(folder / name, name, changes(), COPIES)
    return folder


def kill_at_work(cluster: Cluster, job: subprocess.Popen[str], stage: int, *, node: bool) -> None:
    """Kill an executor while it runs a task, and the worker above it if the node is to die."""
    found: list[int] = []

    def is_at_work() -> bool:
        assert job.poll() is None, "the job has ended before"
        executor = cluster.executor_at_work(stage)
        found.extend([] if executor is None else [executor])
        return bool(found)

    wait_for(is_at_work, "the first task", 600)
    worker = parent_of(found[0])
    os.kill(found[0], signal.SIGKILL)
    if node:
        os.kill(worker, signal.SIGKILL)


def check_equal(found: Answer) -> None:
    assert found.code == 0, found.err[-3000:]
    assert f"\nshop.orders: equal, {ROWS * COPIES:,} changes, paired by" in found.out
    assert f"\nEQUAL: {ROWS * COPIES:,} changes of 1 table" in found.out


def test_equal_feeds_are_equal(cluster: Cluster, feeds: Path, scripts: Path) -> None:
    with recorded(
        "cluster/equal",
        "two feeds compared on a cluster",
        "Spark's own standalone cluster of two workers, whose Python has all libraries but "
        "not the project, which comes with the job as a wheel. Two equal feeds are equal "
        "there, and both workers took part.",
    ) as result:
        before = cluster.executor_folders()
        job = cluster.submit(scripts / "submit.py", "compare", *FEEDS, cwd=feeds)
        check_equal(answer_of(job))
        assert len(cluster.executor_folders() - before) == cluster.workers
        result.figures = {"changes": ROWS * COPIES, "workers": cluster.workers}


def test_planted_differences_are_found(cluster: Cluster, scripts: Path, tmp_path: Path) -> None:
    with recorded(
        "cluster/planted",
        "differences found on a cluster",
        "One change has another value on one side, one is lost and one doubled: just these "
        "three are named, with key, column and both values.",
    ) as result:
        events = changes()
        updates = [number for number, event in enumerate(events) if event.op == "update"]
        changed, lost, doubled = updates[10], updates[500], updates[900]
        other = [*events]
        other[changed] = with_value(events[changed], CHANGED, 4711)
        other.insert(doubled, events[doubled])
        del other[lost]
        write_feed(tmp_path / "craft", "craft", events)
        write_feed(tmp_path / "open-protocol", "open-protocol", other)
        words = ("compare", *FEEDS, "--json", "found.json")
        found = answer_of(cluster.submit(scripts / "submit.py", *words, cwd=tmp_path))
        assert found.code == 1, found.err[-3000:]
        document = json.loads((tmp_path / "found.json").read_text())
        (table,) = document["tables"]
        counts = {name: count for name, count in table["counts"].items() if count}
        assert (counts["left_rows"], counts["right_rows"]) == (ROWS, ROWS)
        assert counts["same"] == ROWS - 2
        wanted = {"changed": 1, "only_left": 1, "doubled_right": 1}
        assert {name: counts.get(name, 0) for name in wanted} == wanted
        shown = {each["verdict"]: each for each in table["differences"]}
        (column,) = shown["changed"]["columns"]
        assert (column["image"], column["column"]) == ("after", "quantity")
        assert column["right"] == {"value": "4711"}
        for number, verdict in ((changed, "changed"), (lost, "only left"), (doubled, "doubled")):
            assert shown[verdict]["key"][0]["value"] == str(key_of(events[number]))
        result.figures = {"changes": ROWS, "differences": len(shown)}


def with_value(event: RowChange, place: int, value: int) -> RowChange:
    image = event.after
    assert image is not None
    values = (*image.values[:place], value, *image.values[place + 1 :])
    return replace(event, after=Image(image.columns, values))


def key_of(event: RowChange) -> Any:
    image = event.after or event.before
    assert image is not None
    return image.values[KEY]


def test_comparison_survives_the_death_of_a_worker(
    own_cluster: Cluster, feeds: Path, scripts: Path
) -> None:
    with recorded(
        "cluster/worker-killed",
        "a worker killed while two feeds are compared",
        "An executor and the worker above it are ended by SIGKILL in the middle of a task. "
        "The answer is that of an unbroken cluster.",
    ) as result:
        job = own_cluster.submit(scripts / "submit.py", "compare", *FEEDS, cwd=feeds)
        kill_at_work(own_cluster, job, FIRST_STAGE_OF_COMPARING, node=True)
        check_equal(answer_of(job))
        assert [process.poll() is None for process in own_cluster.processes].count(False) == 1
        result.figures = {"changes": ROWS * COPIES}


def test_parquet_has_each_change_once_when_an_executor_dies(
    cluster: Cluster, feeds: Path, scripts: Path, tmp_path: Path
) -> None:
    with recorded(
        "cluster/executor-killed",
        "an executor killed while a feed becomes Parquet",
        "An executor is ended by SIGKILL while it decodes, and its task is run again by "
        "another one. The Parquet has each change as often as the feed.",
    ) as result:
        before = cluster.executor_folders()
        words = (FEEDS[1], str(tmp_path / "out"))
        job = cluster.submit(scripts / "to_parquet.py", *words, cwd=feeds)
        kill_at_work(cluster, job, FIRST_STAGE_OF_DECODING, node=False)
        found = answer_of(job)
        assert found.code == 0, found.err[-3000:]
        assert len(cluster.executor_folders() - before) > cluster.workers
        dataset: Any = ds.dataset(tmp_path / "out" / "shop.orders", format="parquet")
        rows = dataset.to_table(columns=["op", "commit_ts", "before", "after", "error"]).to_pylist()
        assert all(row["error"] is None for row in rows)
        written = Counter(
            (row["op"], int(row["commit_ts"]), (row["after"] or row["before"])["id"])
            for row in rows
        )
        sent = [(e.op, e.position.commit_ts, key_of(e)) for e in changes()] * COPIES
        result.figures = {"sent": len(sent), "written": written.total()}
        assert written == Counter(sent)


def test_jars_are_taken_and_a_dead_broker_is_one_line(
    cluster: Cluster, scripts: Path, feeds: Path
) -> None:
    port = free_port()
    words = ("compare", f"craft:kafka://127.0.0.1:{port}/orders", FEEDS[1])
    job = cluster.submit(scripts / "submit.py", *words, cwd=feeds, options=("--jars", kafka_jars()))
    found = answer_of(job)
    assert found.code == 2
    (line,) = found.out.splitlines()  # spark-submit gives what Python writes in one stream
    assert f"no broker answers at 127.0.0.1:{port}" in line


def test_workers_without_the_package_are_one_line(
    cluster: Cluster, feeds: Path, tmp_path: Path
) -> None:
    found = command(cluster, feeds)
    assert found.returncode == 2
    (line,) = found.stderr.splitlines()
    assert "No module named 'cdcwire" in line


def test_command_starts_a_job_by_itself(cluster: Cluster, feeds: Path) -> None:
    """Without spark-submit: the command in a Python that has the project."""
    found = command(cluster, feeds, "--conf", f"spark.submit.pyFiles={cluster.package}")
    check_equal(Answer(found.returncode, found.stdout, found.stderr))


def command(cluster: Cluster, feeds: Path, *more: str) -> subprocess.CompletedProcess[str]:
    words = ("compare", *FEEDS, "--master", cluster.master, *more)
    paths = os.pathsep.join(path for path in sys.path if path)
    return subprocess.run(
        [sys.executable, "-m", "cdcwire_conformance", *words],
        cwd=feeds,
        env=cluster.environment(PYTHONPATH=paths),
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
