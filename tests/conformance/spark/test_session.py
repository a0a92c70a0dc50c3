"""A session that can't start gives one line. The processes here start no Java that works."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cdcwire.extras import MissingExtraError
from cdcwire_conformance.spark.session import SparkUnavailable, readable_errors, spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PROGRAM = """
import sys
from cdcwire_conformance.spark.session import SparkUnavailable, spark_session
try:
    spark_session("local[1]")
except SparkUnavailable as error:
    print(error)
"""


def answer(**variables: str) -> str:
    """Return what a process says that asks for a session in this environment."""
    left_out = ("JAVA_HOME", "SPARK_HOME", "PYSPARK_GATEWAY_PORT")
    environment: Mapping[str, str] = {
        **{name: value for name, value in os.environ.items() if name not in left_out},
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        **variables,
    }
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert ended.stderr == ""
    return ended.stdout


def program(folder: Path, text: str) -> Path:
    """Write a program named java."""
    (folder / "bin").mkdir()
    file = folder / "bin" / "java"
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)
    return file


def test_missing_java_is_reported_in_one_line(tmp_path: Path) -> None:
    assert answer(PATH=str(tmp_path)) == (
        "Spark needs Java 17 or newer; install it, or let JAVA_HOME lead to it "
        "(java is not on the PATH)\n"
    )


def test_java_home_without_java_is_reported_in_one_line(tmp_path: Path) -> None:
    said = answer(JAVA_HOME=str(tmp_path))
    assert said.startswith("Spark needs Java 17 or newer; ")
    assert str(tmp_path / "bin" / "java") in said
    assert said.count("\n") == 1


@pytest.mark.skipif(os.name == "nt", reason="the stand-in for java is a shell script")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("echo 'openjdk version \"11.0.2\"' >&2", "is version 11)"),
        ("echo 'java version \"1.8.0_381\"' >&2", "is version 8)"),
        ("exit 3", "can't run)"),
    ],
    ids=["11", "8", "broken"],
)
def test_unsuitable_java_is_reported_in_one_line(tmp_path: Path, text: str, said: str) -> None:
    java = program(tmp_path, text)
    found = answer(JAVA_HOME=str(tmp_path))
    assert found.startswith("Spark needs Java 17 or newer; ")
    assert found.endswith(f"({java} {said}\n")


@pytest.mark.skipif(os.name == "nt", reason="the stand-in for java is a shell script")
def test_java_that_ends_before_spark_is_up_is_reported_in_one_line(tmp_path: Path) -> None:
    text = 'test "$1" = -version && exit 0; echo "Error: no room for the heap" >&2; exit 1'
    program(tmp_path, text)
    assert answer(JAVA_HOME=str(tmp_path)) == (
        "Spark could not start: Error: no room for the heap\n"
    )


LOCAL_DIR_PROGRAM = """
import pathlib, sys
from cdcwire_conformance.spark.session import spark_session
places = [pathlib.Path(name) for name in sys.argv[2:]]
conf = {"spark.local.dir": sys.argv[1]} if sys.argv[1] else {}
spark_session("local[1]", conf)
for place in places:
    (own,) = place.iterdir()
    (blocks,) = own.glob("blockmgr-*")
    (blocks / "0c").mkdir(exist_ok=True)
    (blocks / "0c" / "shuffle_0_0_0.data").write_bytes(b"as a job leaves it")
    print(blocks.is_dir())
"""


@pytest.mark.long
@pytest.mark.parametrize("by", ["setting", "environment"])
def test_files_of_spark_in_the_users_directories_are_removed(tmp_path: Path, by: str) -> None:
    places = [str(tmp_path / name) for name in ("a", "b")]
    (tmp_path / "temporary").mkdir()
    environment = {
        **{name: value for name, value in os.environ.items() if name != "PYSPARK_GATEWAY_PORT"},
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "TMPDIR": str(tmp_path / "temporary"),
    }
    if by == "environment":
        environment["SPARK_LOCAL_DIRS"] = ",".join(places)
    setting = ",".join(places) if by == "setting" else ""
    ended = subprocess.run(
        [sys.executable, "-c", LOCAL_DIR_PROGRAM, setting, *places],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    assert ended.stdout == "True\nTrue\n"
    assert [list(each.iterdir()) for each in map(Path, places)] == [[], []]


def test_missing_pyspark_is_reported_with_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(MissingExtraError) as caught:
        spark_session()
    assert "a Spark session needs the package pyspark (extra spark): pip install '" in str(
        caught.value
    )


def test_an_older_spark_is_reported_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pyspark.__version__", "3.5.7")
    with pytest.raises(SparkUnavailable) as caught:
        spark_session()
    assert str(caught.value).startswith(
        "PySpark is version 3.5.7; cdcwire needs Spark 4 and is tested with 4.1: pip install '"
    )


@pytest.mark.parametrize("library", ["pyspark", "pyarrow", "pandas"])
def test_names_of_the_package_tell_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, library: str
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingExtraError, match=rf"{library} \(extra spark\): pip install '"):
        from cdcwire_conformance.spark import decode_frame  # noqa: F401


def test_package_has_all_names_that_it_lists() -> None:
    import cdcwire_conformance.spark as package

    assert all(getattr(package, name) is not None for name in package.__all__)
    with pytest.raises(AttributeError):
        package.nothing  # noqa: B018


def test_second_session_is_the_first(spark: SparkSession) -> None:
    assert spark_session("local[1]") is spark


def test_failed_job_is_reported_in_one_line(spark: SparkSession) -> None:
    with pytest.raises(SparkUnavailable) as caught, readable_errors():
        spark.sql("SELECT CAST('seven' AS INT)").collect()
    assert str(caught.value).startswith("Spark's job failed: [CAST_INVALID_INPUT]")
    assert "\n" not in str(caught.value)


def test_failed_worker_is_reported_with_its_last_line(spark: SparkSession) -> None:
    def fail(batches: object) -> object:
        raise KeyError("what is missing")

    with pytest.raises(SparkUnavailable) as caught, readable_errors():
        spark.range(1).mapInArrow(fail, "id long").collect()
    assert str(caught.value) == "Spark's job failed: KeyError: 'what is missing'"


def test_calls_of_java_are_not_logged(
    spark: SparkSession, caplog: pytest.LogCaptureFixture
) -> None:
    spark_session()
    with caplog.at_level("DEBUG"):
        logging.getLogger("py4j.clientserver").info("a line above DEBUG")
        spark.conf.set("spark.cdcwire.secret", "p4ss-w0rd")
        assert spark.conf.get("spark.cdcwire.secret") == "p4ss-w0rd"
    assert "p4ss-w0rd" not in caplog.text
    assert "a line above DEBUG" in caplog.text
