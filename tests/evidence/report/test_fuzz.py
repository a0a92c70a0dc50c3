"""The chapter about the fuzzer, of results that are written here."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from cdcwire_evidence.fuzz.growth import GROWTH, Growth, GrowthTally
from cdcwire_evidence.fuzz.run import Tally
from cdcwire_evidence.report.fuzz import fuzz_part


def results_of(folder: Path, tally: Tally, *growths: Growth) -> Path:
    grown = GrowthTally(tally.format)
    grown.add(list(growths))
    (folder / GROWTH).write_text(json.dumps([asdict(grown)]), "utf-8")
    file = folder / "results.json"
    file.write_text(json.dumps({"memory_every": 64, "formats": [asdict(tally)]}), "utf-8")
    return file


def test_chapter_without_results_is_not_run(tmp_path: Path) -> None:
    part = fuzz_part(tmp_path / "no")
    assert [missing.what for missing in part.not_run] == ["fuzzing"]
    assert part.status == "not run"


def test_chapter_shows_the_figures(tmp_path: Path) -> None:
    tally = Tally("csv", inputs=2000, accepted=30, encoded=20, deep=500, seconds=2.0, slowest=1.25)
    part = fuzz_part(results_of(tmp_path, tally))
    assert part.status == "passed"
    row, _ = [line for line in part.lines if line.startswith("| csv")]
    cells = [cell.strip() for cell in row.split("|")[1:-1]]
    assert cells[:7] == ["csv", "2,000", "30", "20", "500", "1,000", "1.2"]
    assert cells[8:] == ["0"] * 8


def test_finding_fails_the_chapter(tmp_path: Path) -> None:
    tally = Tally("csv", inputs=1)
    tally.broken["hang"] = 1
    part = fuzz_part(results_of(tmp_path, tally))
    assert part.status == "failed"
    assert part.attention == ["csv: 1 findings; run `tox run -e fuzz`"]


def test_chapter_shows_how_time_and_memory_grow(tmp_path: Path) -> None:
    growth = Growth("csv/a~rows.1", "plain", points=[(2_000_000, 1.0)], ratio=2.04, memory=37.6)
    part = fuzz_part(results_of(tmp_path, Tally("csv", inputs=1), growth))
    assert part.status == "passed"
    _, row = [line for line in part.lines if line.startswith("| csv")]
    cells = [cell.strip() for cell in row.split("|")[1:-1]]
    assert cells == ["csv", "1", "0", "1", "2.0", "2.04", "38", "0", "0", "0"]


def test_growth_beyond_the_laws_fails_the_chapter(tmp_path: Path) -> None:
    growth = Growth("csv/a~rows.1", "fast", broken=["200 bytes of memory per byte"])
    part = fuzz_part(results_of(tmp_path, Tally("csv", inputs=1), growth))
    assert part.status == "failed"
    assert part.attention == ["csv: csv/a~rows.1 fast: 200 bytes of memory per byte"]


def test_missing_growth_is_not_run(tmp_path: Path) -> None:
    file = results_of(tmp_path, Tally("csv", inputs=1))
    (tmp_path / GROWTH).unlink()
    assert [missing.what for missing in fuzz_part(file).not_run] == ["growth"]
