"""A line of progress on a terminal, rewritten in place; nothing anywhere else."""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from cdcwire_conformance.compare.work import Pace, Work
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
        self._lock = threading.Lock()

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()

    def clear(self) -> None:
        """Take the line away, for a moment, as something else is written."""
        with self._lock:
            if self._width:
                self._next_time = time.monotonic() + _SECONDS_BETWEEN
                self._write(" " * self._width + "\r")
                self._width = 0

    def show(self, text: str, *, at_once: bool = False) -> None:
        """Show a text in place of the last one, at most ten times per second unless ``at_once``."""
        if not self._is_shown:
            return
        with self._lock:
            if not at_once and time.monotonic() < self._next_time:
                return
            self._next_time = time.monotonic() + _SECONDS_BETWEEN
            shown = visible(text)
            self._write(shown.ljust(self._width))
            self._width = len(shown)

    def _write(self, text: str) -> None:
        self._stream.write(f"\r{text}")
        self._stream.flush()


@contextmanager
def without_logs() -> Iterator[None]:
    """Keep what libraries log out of standard error, unless the program has a handler for it.

    py4j logs each interrupt with its traceback.
    """
    nothing = logging.NullHandler()
    logging.getLogger().addHandler(nothing)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(nothing)


class Steps:
    """Shows the steps of a comparison on a line, with rows, rate and the time that is left."""

    def __init__(self, line: ProgressLine, pace: Pace | None = None) -> None:
        self._line = line
        self._pace = Pace() if pace is None else pace
        self._step: tuple[str, Work | None] = ("starting", None)

    def __call__(self, text: str, work: Work | None = None) -> None:
        """Begin a step, and show it."""
        self._step = text, work
        self.show_tasks(0, 0)

    def show_tasks(self, done: int, tasks: int) -> None:
        """Show the step again with its progress: ``done`` of ``tasks`` tasks."""
        text, work = self._step
        if work is not None and work.total:
            rows = work.after(done / tasks if tasks else 0)
            text = f"{text}: {self._pace.text(rows, work.total)}"
        elif tasks:
            text = f"{text}: {done} of {tasks} tasks"
        self._line.show(text)


@contextmanager
def watched_jobs(spark: SparkSession, progress: ProgressLine) -> Iterator[Steps]:
    """Yield the function that reports a step; on a terminal it also counts the job's tasks."""
    steps = Steps(progress)
    if not sys.stderr.isatty():
        yield steps
        return
    ended = threading.Event()
    tracker = spark.sparkContext.statusTracker()

    def watch() -> None:
        while not ended.wait(_SECONDS_BETWEEN_LOOKS):
            stages = [tracker.getStageInfo(each) for each in tracker.getActiveStageIds()]
            tasks = sum(stage.numTasks for stage in stages if stage is not None)
            done = sum(stage.numCompletedTasks for stage in stages if stage is not None)
            steps.show_tasks(done, tasks)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield steps
    finally:
        ended.set()
        watcher.join()
