"""A line of progress on a terminal, rewritten in place; nothing anywhere else."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from cdcwire_conformance.visible import unfiltered, visible

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SECONDS_BETWEEN = 0.1
_SECONDS_BETWEEN_LOOKS = 0.25


class ProgressLine:
    """Shows how far the work has come. Use it as a context: the line is gone at the end."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = unfiltered(sys.stderr if stream is None else stream)
        self._is_shown = self._stream.isatty()
        self._next_time = 0.0
        self._width = 0

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()

    def clear(self) -> None:
        """Take the line away, for a moment, as something else is written."""
        if self._width:
            self._next_time = time.monotonic() + _SECONDS_BETWEEN
            self._stream.write("\r" + " " * self._width + "\r")
            self._stream.flush()
            self._width = 0

    def show(self, text: str) -> None:
        """Show a text in place of the last one, at most ten times per second."""
        if not self._is_shown or time.monotonic() < self._next_time:
            return
        self._next_time = time.monotonic() + _SECONDS_BETWEEN
        shown = visible(text)
        self._stream.write("\r" + shown.ljust(self._width))
        self._stream.flush()
        self._width = len(shown)


@contextmanager
def watched_jobs(spark: SparkSession, progress: ProgressLine) -> Iterator[Callable[[str], None]]:
    """Yield the function that reports a step; on a terminal it also counts the job's tasks."""
    if not sys.stderr.isatty():
        yield lambda text: None
        return
    doing = ["starting"]
    ended = threading.Event()
    tracker = spark.sparkContext.statusTracker()

    def watch() -> None:
        while not ended.wait(_SECONDS_BETWEEN_LOOKS):
            stages = [tracker.getStageInfo(each) for each in tracker.getActiveStageIds()]
            tasks = sum(stage.numTasks for stage in stages if stage is not None)
            done = sum(stage.numCompletedTasks for stage in stages if stage is not None)
            progress.show(f"{doing[0]}: {done} of {tasks} tasks" if tasks else doing[0])

    def report(text: str) -> None:
        doing[0] = text

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield report
    finally:
        ended.set()
        watcher.join()
