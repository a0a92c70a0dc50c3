"""report.json, REPORT.md and the pages, of chapters that are written here."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from argparse import Namespace
from functools import partial
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from cdcwire.console.problems import UsageError
from cdcwire.registry import FORMAT_NAMES
from cdcwire_evidence.report import runs, write
from cdcwire_evidence.report.__main__ import run
from cdcwire_evidence.report.document import report_document
from cdcwire_evidence.report.pages import chapter_page, first_page, verdict_line, write_pages
from cdcwire_evidence.report.part import (
    Bar,
    Evidence,
    KnownWrongResult,
    NotRun,
    Part,
    PlantedResult,
    ReaderScore,
    SizeCell,
    Sizes,
)
from cdcwire_evidence.report.runs import benchmarks_part
from cdcwire_evidence.report.write import Chapter, When, gather, write_report

BAR = Bar("decode", "rows per second", 0.5, "x", 1.0, True, False)
CELL = SizeCell("tiny", "craft", 16, "none", 12.5, 0.4)


def score(name: str, format_name: str, kind: Any, failing: tuple[str, ...] = ()) -> ReaderScore:
    passed = 9 - len(failing)
    return ReaderScore(name, "1", kind, f"run {name}", format_name, 9, passed, 2, failing)


def full_parts() -> list[Part]:
    """Return chapters with more of everything than a page can show."""
    failing = tuple(f"{FORMAT_NAMES[0]}/a/{number}" for number in range(3))
    return [
        Part(
            "The reference",
            "cdcwire verify",
            ["text", "", "", "more"],
            asked=99,
            passed=99,
            readers=[score("reference", name, "decoder") for name in FORMAT_NAMES],
        ),
        Part(
            "Other decoders",
            "cdcwire verify -- x",
            ["text"],
            asked=9,
            passed=6,
            attention=[f"case {number}" for number in range(12)],
            readers=[score("other", FORMAT_NAMES[0], "decoder", failing)],
        ),
        Part(
            "Libraries",
            "cdcwire verify -- y",
            ["text"],
            [NotRun(f"tool {number}", "not found", f"install {number}") for number in range(12)],
            readers=[score(f"lib {n}", name, "library") for n in range(5) for name in FORMAT_NAMES],
        ),
        Part(
            "Corpus",
            "corpus",
            ["text"],
            evidence=[Evidence(name, 10, 4, 5, ("x",)) for name in FORMAT_NAMES],
            known_wrong=[KnownWrongResult("wrong", "reads it so", FORMAT_NAMES[0], None)],
            planted=[PlantedResult("a", "b", (), 5, 4, 1)],
            sizes=Sizes("b", "sizes.svg", (CELL,)),
        ),
        *(Part(f"Speed {n}", "bench", ["text"], bars=[BAR]) for n in range(20)),
    ]


def document_of(parts: list[Part]) -> dict[str, Any]:
    # What is read again is what others read.
    found: dict[str, Any] = json.loads(json.dumps(report_document(parts, "main", 1.0)))
    return found


@pytest.mark.parametrize("parts", [full_parts(), [], [Part("One", "one")]])
def test_document_fits_its_schema(parts: list[Part]) -> None:
    text = files("cdcwire_conformance").joinpath("output/schemas/report.schema.json").read_text()
    validator = jsonschema.Draft202012Validator(json.loads(text))
    validator.validate(document_of(parts))


@pytest.mark.parametrize(
    ("part", "status"),
    [
        (Part("a", lines=["x"]), "passed"),
        (Part("a", lines=["x"], failed=True), "failed"),
        (Part("a", lines=["x"], asked=2, passed=1), "failed"),
        (Part("a", lines=["x"], bars=[BAR]), "passed"),
        (Part("a", lines=["x"], not_run=[NotRun("b", "c")]), "partly run"),
        (Part("a", not_run=[NotRun("b", "c")]), "not run"),
    ],
)
def test_status_of_a_chapter_is_that_of_the_verdict(part: Part, status: str) -> None:
    assert part.status == status
    wanted = "partly run" if status == "not run" else status
    document = document_of([part, Part("fine", lines=["x"])])
    assert document["verdict"]["status"] == wanted
    assert f"{'**' * (status == 'failed')}{status}" in first_page(document)


def test_first_page_has_at_most_60_lines_and_attention_first() -> None:
    page = first_page(document_of(full_parts()))
    assert len(page.splitlines()) <= 60
    headings = [line for line in page.splitlines() if line.startswith("## ")]
    assert headings[0] == "## Needs attention"
    assert "- and 9 more in the chapters" in page
    assert "4/5 found in 1 comparisons" in page
    assert "0/1 are caught" in page
    assert "**Speed and memory**: 0 of 20 goals met ([Speed 0](report/speed-0.md), " in page


def test_failing_cases_and_missed_bars_are_in_the_document() -> None:
    document = document_of(full_parts())
    assert document["verdict"]["checks"] == {"passed": 105, "asked": 108}
    assert document["verdict"]["bars"] == {"met": 0, "all": 20}
    other = next(reader for reader in document["readers"] if reader["name"] == "other")
    assert other["formats"][0]["failing"] == [f"{FORMAT_NAMES[0]}/a/{n}" for n in range(3)]
    assert "105/108 checks passed, 12 items not run" in verdict_line(document)


def test_missing_item_has_one_line_with_what_to_install() -> None:
    missing = [NotRun("one", "not found", "install x"), NotRun("two", "not found", "install x")]
    document = document_of([Part("a", lines=["x"], not_run=missing)])
    assert "- one, two: not found; install x" in first_page(document).splitlines()
    assert "- Not run: one: not found; install x" in chapter_page(document, "a")


def test_pages_of_older_reports_are_removed(tmp_path: Path) -> None:
    (tmp_path / "report").mkdir()
    (tmp_path / "report" / "old.md").write_text("old")
    write_pages(document_of([Part("A title, twice", lines=["x"])]), tmp_path)
    assert [file.name for file in (tmp_path / "report").iterdir()] == ["a-title-twice.md"]


# Chapters run in other processes, which import this from a file.
NOTED = """
import os
from pathlib import Path

from cdcwire.console.problems import UsageError
from cdcwire_evidence.report.part import Part

def noted(name, log, folder):
    assert folder.is_dir()
    for word in ("begin", "end"):
        with log.open("a") as file:
            file.write(f"{word} {name}\\n")
    return Part(name, lines=["x"])

def broken(fault, folder):
    if fault == "exits":
        os._exit(3)
    if fault == "told":
        raise UsageError("no room:\\n  make some")
    raise FileNotFoundError(f"{Path.cwd()}/golden and /srv/tools/python")
"""


def test_chapters_keep_their_order_and_those_that_are_timed_run_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "noted_chapters.py").write_text(NOTED)
    monkeypatch.syspath_prepend(tmp_path)
    noted = import_module("noted_chapters").noted
    log = tmp_path / "log"
    wanted: dict[str, When] = {"a": "any", "b": "alone", "c": "first", "d": "later"}
    done: list[Part] = []
    parts = gather([Chapter(n, partial(noted, n, log), wanted[n]) for n in wanted], done.append)
    assert [part.title for part in parts] == list(wanted)
    lines = log.read_text().splitlines()
    assert lines.index("end c") < lines.index("begin d")
    assert lines[-2:] == ["begin b", "end b"]
    assert done[-1].title == "b"
    assert sorted(part.title for part in done) == sorted(wanted)


def test_chapter_that_breaks_is_failed_in_one_line_and_the_others_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "broken_chapters.py").write_text(NOTED)
    monkeypatch.syspath_prepend(tmp_path)
    module = import_module("broken_chapters")
    names = ("raises", "exits", "told")
    wanted = [
        *(Chapter(name, partial(module.broken, name), "first") for name in names),
        *(Chapter(f"fine {n}", partial(module.noted, f"fine {n}", tmp_path / "log")) for n in "ab"),
        Chapter("last", partial(module.noted, "last", tmp_path / "log"), "alone"),
    ]
    monkeypatch.setattr(write, "chapters", lambda *_: wanted)
    assert run(Namespace(to=str(tmp_path), full=False)) == 1
    document = json.loads((tmp_path / "report" / "report.json").read_text())
    states = {each["title"]: each["status"] for each in document["chapters"]}
    assert states == {each.title: "failed" if each.title in names else "passed" for each in wanted}
    assert document["verdict"]["status"] == "failed"
    problems = [each["text"].partition(": ")[2] for each in document["attention"]]
    assert re.sub(r"\d+", "N", problems[0]) == (
        "FileNotFoundError in broken_chapters.py, line N: golden and python"
    )
    assert problems[1:] == ["its process ended", "no room: make some"]
    out, err = capfd.readouterr()
    assert "Traceback" not in out + err
    # Standard error is a file here: one line for each chapter.
    lines = [line for line in err.splitlines() if re.match(r"\d\d:\d\d:\d\d to \d\d:", line)]
    assert sorted(line.split(maxsplit=6)[5:] for line in lines) == sorted(
        [state, title] for title, state in states.items()
    )


def test_directory_that_cannot_be_written_is_one_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write, "chapters", lambda *_: pytest.fail("chapters were run"))
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"^--to: .*file.* cannot be written: Not a directory$"):
        write_report(tmp_path / "file", "main", lambda part: None)


def goals_of_a_run(**values: Any) -> dict[str, Any]:
    found = {"title": "t", "value": 2.0, "unit": "x", "bar": 1.0, "is_least": True, "passed": True}
    found |= {"benchmark": "decode", "workload": "29 columns", **values}
    where = {"implementation": "C", "python": "3", "machine": "m", "date": "2026-01-01T00:00:00"}
    ran = {"benchmark": "decode", **where, "results": [found]}
    return {"goals": [found], "worse": [], "not_run": [], "benchmarks": [ran]}


def stored_run(
    monkeypatch: pytest.MonkeyPatch, folder: Path, document: dict[str, Any], code: int
) -> Part:
    def run(words: list[str]) -> subprocess.CompletedProcess[str]:
        Path(words[-1]).write_text(json.dumps(document))
        return subprocess.CompletedProcess(words, code, "", "")

    program = folder / "checkout" / "benchmarks" / "__main__.py"
    program.parent.mkdir(parents=True)
    program.touch()
    monkeypatch.chdir(folder / "checkout")
    monkeypatch.setattr(runs, "_run", run)
    (folder / "run").mkdir()
    return benchmarks_part(True, folder, folder / "run")


@pytest.mark.parametrize(("code", "status"), [(0, "passed"), (1, "failed"), (2, "failed")])
def test_exit_code_of_the_benchmarks_counts(
    code: int, status: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = stored_run(monkeypatch, tmp_path, goals_of_a_run(), code)
    assert part.status == status
    assert json.loads((tmp_path / "benchmarks.json").read_text()) == goals_of_a_run()


def test_goals_of_benchmarks_are_bars_of_the_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = goals_of_a_run(value=0.5, passed=False)
    document["worse"] = [{"benchmark": "decode", "title": "t", "was": 0.7, "is": 0.5, "unit": "x"}]
    document["not_run"] = [{"name": "spark_decode", "why": "not installed: pyspark"}]
    part = stored_run(monkeypatch, tmp_path, document, 1)
    assert part.bars == [Bar("decode", "t", 0.5, "x", 1.0, True, False, "29 columns")]
    assert part.status == "partly run"
    assert [missing.what for missing in part.not_run] == ["spark_decode"]
    assert "| t | at least 1 x | 0.50 x | 29 columns | **missed** |" in part.lines
    assert "| t | 0.7 | 0.5 | x |" in part.lines


def test_last_full_run_of_the_benchmarks_is_shown_with_a_quick_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = goals_of_a_run(benchmark="csv_arrow", value=0.7, passed=False)
    full["goals"] += goals_of_a_run(value=9.0)["goals"]  # decode, which the quick run has too
    (tmp_path / "benchmarks-full.json").write_text(json.dumps(full))
    part = stored_run(monkeypatch, tmp_path, goals_of_a_run(), 0)
    assert [(bar.benchmark, bar.value) for bar in part.bars] == [
        ("decode", 2.0),
        ("csv_arrow", 0.7),
    ]
    assert part.status == "passed"
    after = part.lines[part.lines.index("## The last run of all benchmarks") :]
    assert "| t | at least 1 x | 0.70 x | 29 columns | **missed** |" in after
    assert any("2026-01-01" in line for line in after)


def test_benchmarks_that_break_are_a_failed_chapter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(__file__).parents[3])
    monkeypatch.setattr(sys, "executable", "false")
    (tmp_path / "benchmarks.json").write_text("{}")
    (tmp_path / "run").mkdir()
    part = benchmarks_part(True, tmp_path, tmp_path / "run")
    assert part.status == "failed"
    command = "python -m benchmarks --quick import_time decode"
    assert part.attention == [f"`{command}` ended with 1: no output"]


def test_report_that_is_not_published_shows_the_last_full_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    published = tmp_path / "checkout" / "report" / runs.FULL_BENCHMARKS
    published.parent.mkdir(parents=True)
    full = goals_of_a_run(benchmark="large", title="of the full run")
    published.write_text(json.dumps(full))
    part = stored_run(monkeypatch, tmp_path, goals_of_a_run(), 0)
    assert "| of the full run | at least 1 x | 2.00 x | 29 columns | met |" in part.lines
    assert json.loads(published.read_text()) == full
