"""``cdcwire compare --follow``: two topics while they grow, window by window."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from cdcwire.console.interrupts import interrupts_raise
from cdcwire.console.problems import UsageError
from cdcwire.console.visible import visible
from cdcwire.files.local_files import write_whole
from cdcwire_conformance.cli.compare_arguments import EVERY_SECONDS, CompareArguments
from cdcwire_conformance.cli.compare_run import Work
from cdcwire_conformance.cli.progress import ProgressLine
from cdcwire_conformance.cli.usage import check_writable
from cdcwire_conformance.compare.metrics import FollowMetrics, metrics_text
from cdcwire_conformance.sources.source_urls import Source

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from cdcwire_conformance.spark.follow.following import FollowStatus, WindowComparison

EQUAL, DIFFERENT = 0, 1
_ONLY_WITH_FOLLOW = ("metrics", "every", "windows", "idle", "state", "by_rows")


class MetricsFile:
    """The metrics of a run, and the file that has them. ``path``: None writes none."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._metrics = FollowMetrics()

    def observe(self, status: FollowStatus) -> None:
        """Note the progress of both topics, and replace the file. Raises: UsageError."""
        found = self._metrics
        found.position_name, found.position = status.position_name, status.position
        for number, side in enumerate((found.left, found.right)):
            side.lag, side.watermark = status.lags[number], status.watermarks[number]
        self._write()

    def add(self, window: WindowComparison) -> None:
        """Count a window, and replace the file. Raises: UsageError."""
        self._metrics.add_window(window.comparison, is_equal=window.is_equal)
        for side, notices in (
            (self._metrics.left, window.left),
            (self._metrics.right, window.right),
        ):
            side.late += notices.late
            side.unplaced += notices.unplaced
            side.unreadable += notices.unreadable
        self._write()

    def _write(self) -> None:
        if self._path is None:
            return
        try:
            write_whole(self._path, metrics_text(self._metrics, time.time()).encode())
        except OSError as error:
            raise UsageError(f"--metrics: {self._path}: {error.strerror}") from error


def check_follow_arguments(arguments: CompareArguments) -> None:
    """Check that the options for growing topics fit together. Raises: UsageError."""
    if not arguments.follow:
        for name in _ONLY_WITH_FOLLOW:
            if getattr(arguments, name) not in (None, False):
                raise UsageError(f"--{name.replace('_', '-')} needs --follow")
        return
    if arguments.mode != "events":
        raise UsageError("--follow compares all changes, not the last row of each key (--mode)")
    if arguments.map_column:
        raise UsageError("--follow has no --map-column")
    if arguments.differences:
        raise UsageError(
            "--follow writes no --differences; ask for the window again (--from, --to)"
        )
    if arguments.metrics:
        check_writable(Path(arguments.metrics), "--metrics")
    if arguments.every is not None and not arguments.every > 0:
        raise UsageError("--every is a number of seconds above 0")
    if arguments.idle is not None and not arguments.idle > 0:
        raise UsageError("--idle is a number of seconds above 0")
    if arguments.windows is not None and arguments.windows < 1:
        raise UsageError("--windows is a number from 1")


def check_topics(arguments: CompareArguments, sources: Iterable[Source]) -> None:
    """Check that only topics are followed, before their libraries load. Raises: UsageError."""
    for source in sources:
        if arguments.follow and source.topic is None:
            raise UsageError(
                f"{source}: --follow compares topics only, FORMAT:kafka://HOST:PORT/TOPIC"
            )


def check_followed(work: Work) -> None:
    """Check that two feeds can be followed, before Spark starts. Raises: SourceError."""
    from cdcwire_conformance.spark.follow.following import followed_pair

    followed_pair(work.left, work.right, work.options, by_rows=work.arguments.by_rows)


def follow(
    work: Work, spark: SparkSession, report: Callable[[str], None], progress: ProgressLine
) -> int:
    """Follow two topics, and print each window. Returns: the exit code."""
    from cdcwire_conformance.spark.follow.following import (
        FollowOptions,
        follow_feeds,
        unseen_tables,
    )
    from cdcwire_conformance.spark.follow.report import WindowLines, terms_text, window_text

    arguments = work.arguments
    state = Path(arguments.state) if arguments.state else None
    lines = None
    if arguments.json:
        is_new = state is None or not state.exists()
        lines = WindowLines(Path(arguments.json), is_new=is_new)
    follow_options = FollowOptions(
        every=arguments.every or EVERY_SECONDS,
        windows=arguments.windows,
        idle=arguments.idle,
        by_rows=arguments.by_rows,
        state=state,
    )
    metrics = MetricsFile(Path(arguments.metrics) if arguments.metrics else None)
    windows = different = changes = 0
    has_terms = False
    last = ""
    unseen = unseen_tables(work.options)
    with interrupts_raise():  # not Spark's handler, which cancels jobs
        try:
            for window in follow_feeds(
                spark,
                *(work.left, work.right, work.options, follow_options),
                report=report,
                observe=metrics.observe,
            ):
                found = replace(window, comparison=work.masking.shown(window.comparison))
                metrics.add(found)
                if lines is not None:
                    lines.write(found)
                progress.clear()
                if not has_terms and found.comparison.compared:
                    print(terms_text(found))
                    has_terms = True
                print(window_text(found), end="", flush=True)
                unseen = found.unseen
                if not windows:
                    _print_notes(unseen)
                windows += 1
                different += not found.is_equal
                changes += found.changes
                last = f", up to {found.position} {found.end}"
        except KeyboardInterrupt:
            progress.clear()
    if windows != 1:  # the first window has them already
        _print_notes(unseen)
    if not windows:
        raise UsageError("no window was complete, so nothing was compared")
    if not changes and not different:
        raise UsageError("nothing was compared: no window has a change")
    counted = f"{changes:,} changes{last}"
    if different:
        print(f"DIFFERENT: {different:,} of {windows:,} windows, {counted}")
        return DIFFERENT
    print(f"EQUAL: {windows:,} {'window' if windows == 1 else 'windows'}, {counted}")
    return EQUAL


def _print_notes(lines: Sequence[str]) -> None:
    for line in lines:
        print(f"note: {visible(line)}", flush=True)
