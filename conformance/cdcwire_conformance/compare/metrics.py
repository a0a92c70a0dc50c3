"""The progress of comparing two growing topics, in the text form of Prometheus.

Counters begin at 0 with each process, as Prometheus expects of counters.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from cdcwire_conformance.compare.result import Comparison, SideName

_TSO_BITS = 18  # of a commit_ts, below its milliseconds
_PREFIX = "cdcwire_compare"


@dataclass(slots=True)
class SideMetrics:
    """The metrics of one topic.

    ``rows``: changes that were compared. ``late``, ``unplaced`` and ``unreadable``: records that
    belong to no window. ``lag``: records from the first that may not be compared yet.
    ``watermark``: the position below which the topic is complete. None: not known yet.
    """

    rows: int = 0
    late: int = 0
    unplaced: int = 0
    unreadable: int = 0
    lag: int | None = None
    watermark: int | None = None


@dataclass(slots=True)
class FollowMetrics:
    """The metrics of both topics. ``position``: everything below it is compared; None: nothing."""

    left: SideMetrics = field(default_factory=SideMetrics)
    right: SideMetrics = field(default_factory=SideMetrics)
    equal_windows: int = 0
    different_windows: int = 0
    differences: int = 0
    position_name: str = ""
    position: int | None = None

    def of(self, side: SideName) -> SideMetrics:
        """Return the metrics of a side."""
        return self.left if side == "left" else self.right

    def add_window(self, found: Comparison, *, is_equal: bool) -> None:
        """Count a window that was compared."""
        rows = found.changes
        self.left.rows += rows[0]
        self.right.rows += rows[1]
        self.differences += sum(table.differing for table in found.tables)
        self.equal_windows += is_equal
        self.different_windows += not is_equal


def metrics_text(found: FollowMetrics, now: float) -> str:
    """Return the metrics as Prometheus reads them. ``now``: seconds since 1970."""
    return "".join(f"{line}\n" for line in _lines(found, now))


def _lines(found: FollowMetrics, now: float) -> Iterator[str]:
    sides: Sequence[tuple[SideName, SideMetrics]] = (("left", found.left), ("right", found.right))
    yield from _metric(
        "rows_total",
        "counter",
        "Row changes that were compared.",
        [(f'side="{name}"', side.rows) for name, side in sides],
    )
    yield from _metric("differences_total", "counter", "Differences.", [("", found.differences)])
    windows = (("equal", found.equal_windows), ("different", found.different_windows))
    yield from _metric(
        "windows_total",
        "counter",
        "Windows that were compared, by their verdict.",
        [(f'result="{name}"', count) for name, count in windows],
    )
    yield from _metric(
        "skipped_total",
        "counter",
        "Records that belong to no window, by the reason.",
        [
            (f'side="{name}",reason="{reason}"', getattr(side, reason))
            for name, side in sides
            for reason in ("late", "unplaced", "unreadable")
        ],
    )
    yield from _metric(
        "lag_records",
        "gauge",
        "Records of the topic from the first that may not be compared yet.",
        [(f'side="{name}"', side.lag) for name, side in sides],
    )
    if found.position_name == "commit_ts":
        yield from _metric(
            "lag_seconds",
            "gauge",
            "Age of the position below which the topic is complete.",
            [(f'side="{name}"', _age(side.watermark, now)) for name, side in sides],
        )
    position = f'name="{found.position_name}"'
    yield from _metric(
        "watermark",
        "gauge",
        "Position below which the topic is complete.",
        [(f'side="{name}",{position}', side.watermark) for name, side in sides],
    )
    yield from _metric(
        "position",
        "gauge",
        "Position below which everything is compared.",
        [(position, found.position)],
    )
    yield from _metric(
        "updated_timestamp_seconds", "gauge", "When this file was written.", [("", round(now, 3))]
    )


def _age(position: int | None, now: float) -> float | None:
    return None if position is None else round(max(0.0, now - (position >> _TSO_BITS) / 1000), 3)


def _metric(
    name: str, kind: str, text: str, samples: Sequence[tuple[str, float | None]]
) -> Iterator[str]:
    """Yield the lines of a metric. A sample without a value is left out."""
    yield f"# HELP {_PREFIX}_{name} {text}"
    yield f"# TYPE {_PREFIX}_{name} {kind}"
    for labels, value in samples:
        if value is not None:
            yield f"{_PREFIX}_{name}{f'{{{labels}}}' if labels else ''} {value}"
