"""The metrics of two followed topics: the text that Prometheus reads, and its file."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cdcwire.console.problems import UsageError
from cdcwire_conformance.cli.follow import MetricsFile
from cdcwire_conformance.compare.metrics import FollowMetrics, SideMetrics, metrics_text
from cdcwire_conformance.compare.result import Comparison, Counts, TableComparison

NOW = 1_713_000_000.5
TSO = 1_712_999_990_000 << 18  # ten and a half seconds before
# The text format of Prometheus, version 0.0.4.
HELP = re.compile(r"# HELP ([a-z_]+) \S.*")
TYPE = re.compile(r"# TYPE ([a-z_]+) (counter|gauge)")
SAMPLE = re.compile(r'([a-z_]+)(\{[a-z]+="[^"\\\n]*"(?:,[a-z]+="[^"\\\n]*")*\})? (-?\d+(?:\.\d+)?)')


def samples(text: str) -> dict[str, float]:
    """Return the samples of a text by their names with labels; check the form of every line."""
    assert text.endswith("\n")
    found: dict[str, float] = {}
    declared: dict[str, str] = {}
    name = ""
    for line in text.splitlines():
        if match := HELP.fullmatch(line):
            assert match[1] not in declared, "a metric is in one group"
            name = match[1]
        elif match := TYPE.fullmatch(line):
            assert match[1] == name
            declared[name] = match[2]
        else:
            match = SAMPLE.fullmatch(line)
            assert match is not None, line
            assert match[1] == name
            key = f"{name}{match[2] or ''}"
            assert key not in found
            found[key] = float(match[3])
            assert (declared[name] == "counter") == name.endswith("_total")
    return found


def comparison(same: int, only_left: int) -> Comparison:
    rows = same + only_left
    counts = Counts(
        left_rows=rows, right_rows=same, left=rows, right=same, same=same, only_left=only_left
    )
    return Comparison("a", "b", (TableComparison("shop.orders", counts),))


def test_all_metrics_are_written_with_their_labels() -> None:
    metrics = FollowMetrics(
        SideMetrics(late=1, unreadable=2, lag=30, watermark=TSO),
        SideMetrics(unplaced=4, lag=0, watermark=TSO + (500 << 18)),
        position_name="commit_ts",
        position=TSO,
    )
    metrics.add_window(comparison(10, 0), is_equal=True)
    metrics.add_window(comparison(5, 3), is_equal=False)
    assert samples(metrics_text(metrics, NOW)) == {
        'cdcwire_compare_rows_total{side="left"}': 18,
        'cdcwire_compare_rows_total{side="right"}': 15,
        "cdcwire_compare_differences_total": 3,
        'cdcwire_compare_windows_total{result="equal"}': 1,
        'cdcwire_compare_windows_total{result="different"}': 1,
        'cdcwire_compare_skipped_total{side="left",reason="late"}': 1,
        'cdcwire_compare_skipped_total{side="left",reason="unplaced"}': 0,
        'cdcwire_compare_skipped_total{side="left",reason="unreadable"}': 2,
        'cdcwire_compare_skipped_total{side="right",reason="late"}': 0,
        'cdcwire_compare_skipped_total{side="right",reason="unplaced"}': 4,
        'cdcwire_compare_skipped_total{side="right",reason="unreadable"}': 0,
        'cdcwire_compare_lag_records{side="left"}': 30,
        'cdcwire_compare_lag_records{side="right"}': 0,
        'cdcwire_compare_lag_seconds{side="left"}': 10.5,
        'cdcwire_compare_lag_seconds{side="right"}': 10,
        'cdcwire_compare_watermark{side="left",name="commit_ts"}': TSO,
        'cdcwire_compare_watermark{side="right",name="commit_ts"}': TSO + (500 << 18),
        'cdcwire_compare_position{name="commit_ts"}': TSO,
        "cdcwire_compare_updated_timestamp_seconds": NOW,
    }


def test_what_is_not_known_has_no_sample() -> None:
    found = samples(metrics_text(FollowMetrics(position_name="lsn"), NOW))
    assert not [key for key in found if "lag" in key or "watermark" in key or "position" in key]
    assert found['cdcwire_compare_rows_total{side="left"}'] == 0


def status(position: int | None) -> Any:
    return SimpleNamespace(
        position_name="lsn", position=position, lags=(7, None), watermarks=(9, None)
    )


def window(**counts: int) -> Any:
    left, right = (SimpleNamespace(late=number, unplaced=0, unreadable=0) for number in (1, 0))
    return SimpleNamespace(
        comparison=comparison(4, 2), is_equal=False, left=left, right=right, **counts
    )


def test_file_is_replaced_whole_in_each_round(tmp_path: Path) -> None:
    path = tmp_path / "cdcwire.prom"
    path.write_text("something longer than the metrics\n" * 1000)
    file = MetricsFile(path)
    file.observe(status(None))
    first = samples(path.read_text())
    assert first['cdcwire_compare_lag_records{side="left"}'] == 7
    file.add(window())
    file.add(window())
    file.observe(status(9))
    found = samples(path.read_text())
    assert found['cdcwire_compare_rows_total{side="left"}'] == 12
    assert found['cdcwire_compare_skipped_total{side="left",reason="late"}'] == 2
    assert found['cdcwire_compare_position{name="lsn"}'] == 9
    assert "cdcwire_compare_lag_seconds" not in path.read_text()
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_without_a_file_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    MetricsFile(None).observe(status(None))
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"--metrics: .*: No such file or directory"):
        MetricsFile(tmp_path / "no" / "x").observe(status(None))
