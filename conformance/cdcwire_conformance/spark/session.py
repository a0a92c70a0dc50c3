"""A Spark session of this process, or of a cluster, with the settings that decoding needs.

A failure to start is reported in one line: a missing extra, a missing Java, an address nobody
answers at.
"""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cdcwire.console.interrupts import interrupts_wait, own_handler_stays
from cdcwire.extras import load_extra, requirements_of
from cdcwire_conformance.spark.java import end_java_at_exit, start_java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DEFAULT_MASTER = "local[*]"
NEEDED_JAVA = 17  # of Spark 4
NEEDED_SPARK = 4  # the first with data sources in Python
atexit.register(end_java_at_exit)

# The error of a Python worker. It begins a line of a traceback, or follows Spark's own words.
_FEED_ERROR = re.compile(
    r"(?:^|^\[PYTHON_DATA_SOURCE_ERROR\] .*?: )"
    r"(?:[\w.]*\.)?(FeedError|SchemaError|InputError|SourceError|StoreError|OptionError): (.+)$",
    re.MULTILINE,
)
_WORKER_ERROR = re.compile(r"^[A-Za-z_][\w.]*(?:Error|Exception)\b.*$", re.MULTILINE)
_LOCAL_DIR = "spark.local.dir"
_LOCAL_DIRS = "SPARK_LOCAL_DIRS"  # goes before spark.local.dir
_CALLING = "An error occurred while calling"
_JAVA_PACKAGE = re.compile(r"^: (?:[a-z][\w$]*\.)*")
_JAVA_VERSION = re.compile(r'version "(?:1\.)?(\d+)')  # Java 8 says 1.8

_SETTINGS: Mapping[str, str] = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",  # overflow and bad casts raise instead of giving NULL
    "spark.sql.timeType.enabled": "true",  # TIME, which the profile flink has
    "spark.sql.execution.pyspark.udf.simplifiedTraceback.enabled": "true",
    # To keep where in Python each column was made is half the time of making them.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    "spark.sql.caseSensitive": "true",  # MySQL's column names may differ by case in nothing else
    # No query reads what another one has fetched. To keep it for five minutes, which is Spark's
    # default, fills the memory of a job that follows two topics.
    "spark.kafka.consumer.fetchedData.cache.timeout": "20s",
    "spark.kafka.consumer.fetchedData.cache.evictorThreadRunInterval": "10s",
}
_JAVA_OPTIONS = (
    # Less work in all, and longer pauses, which nobody waits for.
    "-XX:+UseParallelGC",
    # Java's second compiler takes a third of the time of a short session. It begins after 40 times
    # as many calls and loops as by default, which the rows of a large feed make in a second.
    "-XX:Tier4InvocationThreshold=200000",
    "-XX:Tier4MinInvocationThreshold=24000",
    "-XX:Tier4CompileThreshold=600000",
    "-XX:Tier4BackEdgeThreshold=1600000",
)
_LOCAL_SETTINGS: Mapping[str, str] = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "2g",
    "spark.driver.defaultJavaOptions": " ".join(_JAVA_OPTIONS),
    "spark.sql.shuffle.partitions": "8",
}


class SparkUnavailable(RuntimeError):
    """Spark can't be started, or its job failed. The text is one line for the user."""


class JavaMissing(SparkUnavailable):
    """There is no Java that Spark runs on."""


def is_installed() -> bool:
    """Return whether PySpark and a Java that it runs on are installed."""
    try:
        _check_java()
    except JavaMissing:
        return False
    return find_spec("pyspark") is not None


def spark_session(
    master: str | None = None,
    conf: Mapping[str, str] | None = None,
    name: str = "cdcwire",
) -> SparkSession:
    """Return a Spark session; the one that there is, if there is one.

    ``master``: a Spark master URL; None: embedded, on all cores. ``conf`` wins over the settings
    here. The output of Java and the workers goes into a file that ends with this process, as Java
    does. So do the files of an embedded Spark, also those in ``spark.local.dir``.
    Raises: MissingExtraError where PySpark is not installed; JavaMissing; SparkUnavailable.
    """
    _check_spark(load_extra("pyspark", "spark", "a Spark session").__version__)
    from py4j.protocol import Py4JError
    from pyspark import SparkConf, SparkContext
    from pyspark.errors import PySparkException
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    _keep_calls_out_of_logs()
    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    if "PYSPARK_GATEWAY_PORT" in os.environ:  # spark-submit has started Java
        builder = SparkSession.builder.appName(name)
        for key, value in {**_SETTINGS, **(conf or {})}.items():
            builder = builder.config(key, value)
        with own_handler_stays():
            return builder.getOrCreate()
    _check_java()
    chosen = master or DEFAULT_MASTER
    is_local = chosen.startswith("local")
    settings = {**_SETTINGS, **(_LOCAL_SETTINGS if is_local else {}), **(conf or {})}
    try:
        java = start_java(_local_dirs(settings) if is_local else ())
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        raise SparkUnavailable(f"Spark could not start: {place}{error.strerror}") from error
    settings = java.with_folder(settings)
    if is_local and _LOCAL_DIR in settings:
        settings[_LOCAL_DIR] = java.local_dirs
    known = SparkConf().setMaster(chosen).setAppName(name).setAll(list(settings.items()))
    launch: Callable[..., Any] = launch_gateway
    try:
        local_dirs = java.local_dirs if is_local and _LOCAL_DIRS in os.environ else None
        with _worker_environment(is_local, local_dirs), java.log.open("wb") as log:
            with interrupts_wait():  # until Java's process is known, so that it can be ended
                gateway = launch(known, popen_kwargs={"stdout": log, "stderr": log})
                java.process, java.client = gateway.proc, gateway._gateway_client
            with own_handler_stays():
                context = SparkContext(conf=known, gateway=gateway)
        java.listeners.append(context._accumulatorServer)
        context.setLogLevel("ERROR")
        return SparkSession.builder.getOrCreate()
    except (PySparkException, Py4JError, OSError, RuntimeError) as error:
        reason = _last_error(java.log) or _first_line(error)
        raise SparkUnavailable(f"Spark could not start: {reason}") from error


def _local_dirs(settings: Mapping[str, str]) -> list[str]:
    """Return the directories in which the user wants Spark's files."""
    text = os.environ.get(_LOCAL_DIRS) or settings.get(_LOCAL_DIR, "")
    return [each.strip() for each in text.split(",") if each.strip()]


def _keep_calls_out_of_logs() -> None:
    """Drop what py4j logs at DEBUG: each call of Java with its arguments, which may be secrets."""
    for name in ("py4j.clientserver", "py4j.java_gateway"):
        logging.getLogger(name).addFilter(_is_not_a_call)  # which adds it once


def _is_not_a_call(record: logging.LogRecord) -> bool:
    return record.levelno > logging.DEBUG


@contextlib.contextmanager
def _worker_environment(is_local: bool, local_dirs: str | None) -> Iterator[None]:
    """Let workers run this Python, in UTC, and find the decoders, however it was started.

    Those of a cluster run the Python that the environment names, if it does. ``local_dirs``: in
    place of the directories that the environment names.
    """
    python = sys.executable if is_local else os.environ.get("PYSPARK_PYTHON") or sys.executable
    wanted = {"PYSPARK_PYTHON": python, "PYSPARK_DRIVER_PYTHON": sys.executable}
    if is_local:
        wanted |= {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path), "TZ": "UTC"}
    if local_dirs is not None:
        wanted[_LOCAL_DIRS] = local_dirs
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _last_error(log: Path) -> str | None:
    """Return what Java said last that is an error."""
    lines = log.read_text("utf-8", "replace").splitlines() if log.is_file() else []
    found = [line.strip() for line in lines if "Exception" in line or "rror:" in line]
    found = [line for line in found if not line.startswith("at ")]
    return f"{found[-1]:.300}" if found else None


@contextlib.contextmanager
def readable_errors() -> Iterator[None]:
    """Turn what a job fails with into one line: a SparkUnavailable, FeedError or SourceError."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    from cdcwire.files.stores import SourceError
    from cdcwire_conformance.decode.reading import FeedError

    try:
        yield
    except (PySparkException, Py4JError) as error:
        found = _FEED_ERROR.search(str(error))
        if found is not None:
            is_of_source = found[1] in ("SourceError", "StoreError", "OptionError")
            kind = SourceError if is_of_source else FeedError
            raise kind(found[2]) from error
        in_worker = _WORKER_ERROR.findall(str(error)) if "Python worker" in str(error) else []
        reason = f"{in_worker[-1]:.300}" if in_worker else _first_line(error)
        raise SparkUnavailable(f"Spark's job failed: {reason}") from error


def _check_spark(version: str) -> None:
    """Check that PySpark has what decoding needs. Raises: SparkUnavailable."""
    if int(version.partition(".")[0]) < NEEDED_SPARK:
        raise SparkUnavailable(
            f"PySpark is version {version}; cdcwire needs Spark {NEEDED_SPARK} and is tested with "
            f"4.1: pip install {requirements_of('spark')}"
        )


def _check_java() -> None:
    """Check that Java is installed in a supported version. Raises: JavaMissing."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home, "bin", "java")) if home else shutil.which("java")
    missing = f"Spark needs Java {NEEDED_JAVA} or newer; install it, or let JAVA_HOME lead to it"
    if java is None:
        raise JavaMissing(f"{missing} (java is not on the PATH)")
    try:
        answer = subprocess.run(
            [java, "-version"], capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise JavaMissing(f"{missing} ({java}: {_first_line(error)})") from error
    found = _JAVA_VERSION.search(answer.stderr + answer.stdout)
    if answer.returncode != 0:
        raise JavaMissing(f"{missing} ({java} can't run)")
    if found is not None and int(found.group(1)) < NEEDED_JAVA:
        raise JavaMissing(f"{missing} ({java} is version {found.group(1)})")


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if len(lines) > 1 and lines[0].startswith(_CALLING):
        # Java's exception is after py4j's own line, and before its trace.
        said = " ".join(takewhile(lambda line: not line.startswith("at "), lines[1:]))
        return f"{_JAVA_PACKAGE.sub('', said):.300}"
    return f"{lines[0]:.300}" if lines else type(error).__name__
