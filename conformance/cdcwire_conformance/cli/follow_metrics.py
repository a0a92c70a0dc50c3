"""The file of metrics that ``cdcwire compare --follow --metrics`` keeps up to date."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from cdcwire_conformance.compare.metrics import FollowMetrics, metrics_text
from cdcwire_conformance.usage import UsageError
from cdcwire_conformance.whole_files import write_whole

if TYPE_CHECKING:
    from cdcwire_conformance.spark.follow.following import FollowStatus, WindowComparison


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
