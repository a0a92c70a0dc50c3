"""HTML pages: their data, and what the template makes of hostile texts."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cdcwire_conformance.cli import main
from cdcwire_conformance.corpus import Case, load_case, load_cases
from cdcwire_conformance.corpus.witness import Witness
from cdcwire_conformance.judge.cases import Focus
from cdcwire_conformance.output.html.cases import (
    AUTHOR,
    MOST_BYTES,
    OTHERS,
    case_details,
    case_row,
    witness_names,
)
from cdcwire_conformance.output.html.page import counted_cell, reader_matrix
from cdcwire_conformance.output.html.render import script_json
from cdcwire_conformance.output.html.site import details_script, site_page, write_site
from cdcwire_conformance.output.html.verify_page import html_text, page_of
from cdcwire_conformance.protocol import Description, Request
from cdcwire_conformance.protocol.answers import Answer, Events
from cdcwire_conformance.run.results import Results
from cdcwire_conformance.run.runner import run
from cdcwire_conformance.testees import NoAnswer

Make = Callable[..., Case]
Fake = Callable[..., Any]
CASE = "craft/options/delete-handle-key-only"
HOSTILE = "</script><img src=x onerror=alert(1)>\x1b[31m\u202egnp\ud800&\"'"


def test_row_says_who_confirms_a_case() -> None:
    case = load_case(CASE)
    row = case_row(case, ["passed"])
    assert row["by"] == AUTHOR
    assert row["clauses"] == ["craft: delete only handle key"]
    assert case_row(case, [], witnesses=["read by somebody"])["by"] == OTHERS


def test_witness_of_other_bytes_confirms_nothing() -> None:
    witness = Witness("other", "1", "Go", {"a/b/c": "new", "a/b/d": "old"}, {"a/b/c": "new"})
    names = witness_names([witness], {"a/b/c": "new", "a/b/d": "new"})
    assert names == {"a/b/c": ("read by other 1 (Go)", "written by other 1 (Go)")}


def test_details_give_each_byte_its_field() -> None:
    details = case_details(load_case(CASE))
    (message,) = details["messages"]
    (part,) = message["parts"]
    assert bytes.fromhex(part["hex"]) == load_case(CASE).messages[0].value
    assert part["fields"][1] == [
        1,
        10,
        "events[0].commit_ts",
        "433305438660591626",
        "craft: headers",
    ]
    covered = {at for start, end, *_ in part["fields"] for at in range(start, end)}
    assert covered == set(range(part["size"]))
    assert '"op": "delete"' in details["events"]
    assert ["Known bugs", "64, op/delete-handle-key-only"] in details["facts"]


def test_long_message_is_shown_around_the_byte_of_the_failure() -> None:
    case = max(load_cases(["craft"]), key=lambda case: len(case.messages[0].value or b""))
    raw = case.messages[0].value or b""
    assert len(raw) > 2 * MOST_BYTES
    (start,) = case_details(case)["messages"][0]["parts"]
    assert (start["start"], len(start["hex"])) == (0, 2 * MOST_BYTES)
    focus = Focus(case.messages[0], "value", len(raw) - 1, "here")
    (end,) = case_details(case, focus=focus)["messages"][0]["parts"]
    assert end["start"] <= end["mark"] == len(raw) - 1
    assert end["start"] + len(end["hex"]) // 2 == len(raw)


def test_cell_counts_only_cases_that_were_asked() -> None:
    cell = counted_cell(["passed", "failed", "not claimed", ""], format="craft")
    assert (cell.text, cell.state, cell.link) == ("1/2", "bad", "#format=craft&result=not%20passed")
    assert counted_cell(["passed"]).state == "good"
    assert counted_cell(["not claimed"]).text == ""


def test_matrix_has_a_row_for_each_format_and_clause(a_case: Make) -> None:
    rows = [
        case_row(a_case("one"), ["passed", ""]),
        case_row(a_case("two", clauses=("toy: digits", "toy: signs")), ["failed", "passed"]),
    ]
    (line,) = reader_matrix("title", ["first", "second"], rows).rows
    assert [cell.text for cell in line.cells] == ["1/2", "1/1"]
    assert [(part.title, part.cells[0].text) for part in line.parts] == [
        ("toy: digits", "1/2"),
        ("toy: signs", "0/1"),
    ]


@pytest.fixture
def hostile(results: Results, a_case: Make, fake: Fake) -> Results:
    """The results of a testee that says hostile texts wherever it can."""

    def answer(request: Request) -> Answer:
        if (request.body.get("options") or {}).get("do") == "crash":
            raise NoAnswer("crashed", "exit code 3", f"{HOSTILE}\nlast words")
        return Events([{"kind": "marker", "what": "begin", "id": HOSTILE}])

    cases = [
        a_case("wrong", title="a case"),
        a_case("crash", options={"do": "crash"}),
        a_case("declined", features=("vector",)),
    ]
    testee = fake(answer, without=frozenset({"vector"}))
    results.testee = Description(HOSTILE, HOSTILE, HOSTILE, testee.start().formats)
    results.command = HOSTILE
    return run(cases, [], [testee], results)


def test_page_of_a_run_has_verdict_groups_and_what_was_not_run(hostile: Results) -> None:
    page = page_of(hostile, {})
    assert (page.state, page.verdict) == ("bad", "FAILED: 2 of 2 cases")
    assert [line.number for line in page.groups] == [1, 1]
    assert page.not_run == ("1 case, not claimed: without vector",)
    rows = page.data["rows"]
    assert [row["id"] for row in rows][-1] == "toy/rows/declined"
    groups = [[rows[place]["id"] for place in places] for places in page.data["groups"]]
    assert [line.first for line in page.groups] == [ids[0] for ids in groups]
    assert set(page.data["details"]) == {"toy/rows/wrong", "toy/rows/crash"}


def test_signs_that_nobody_sees_are_escaped_in_the_data(hostile: Results) -> None:
    text = json.dumps(page_of(hostile, {}).data, ensure_ascii=False)
    assert "\u202e" not in text
    assert "\x1b" not in text
    assert "\\u202e" in text
    rows = page_of(hostile, {}).data["rows"]
    crashed = next(row for row in rows if row["id"] == "toy/rows/crash")
    assert crashed["stderr"].endswith("\nlast words")


def test_script_data_cannot_end_its_element() -> None:
    text = script_json({"a": "</script><!--", "b": "\u2028\ud800"})
    assert "<" not in text
    assert text.isascii()
    assert json.loads(text) == {"a": "</script><!--", "b": "\u2028\ud800"}


def test_hostile_texts_stay_text(hostile: Results) -> None:
    pytest.importorskip("jinja2")
    text = html_text(hostile)
    assert "<img" not in text
    assert text.count("</script>") == text.count("<script") == 2
    assert "&lt;img" in text
    text.encode("utf-8")  # no lone surrogates
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text)
    assert found is not None
    assert json.loads(found[1])["rows"]


def test_page_has_no_empty_column(hostile: Results) -> None:
    pytest.importorskip("jinja2")
    text = html_text(hostile)
    assert "<th>First case</th></tr>" in text
    assert '<th class="number">stored cases</th>' in text
    assert "malformed cases" not in text


def test_page_loads_nothing_from_elsewhere(hostile: Results) -> None:
    pytest.importorskip("jinja2")
    text = html_text(hostile)
    assert not re.search(r"""(?:src|href)\s*=\s*["']?(?:https?:)?//""", text)
    assert "default-src 'none'" in text


def reader(name: str, failing: list[str], not_asked: list[str]) -> dict[str, Any]:
    score = {
        "format": "toy",
        "asked": 3,
        "passed": 3 - len(failing),
        "failed": len(failing),
        "declined": len(not_asked),
        "failing": failing,
        "not_asked": not_asked,
    }
    return {"name": name, "version": "1", "kind": "decoder", "command": "x", "formats": [score]}


def test_site_shows_the_answer_of_each_reader(a_case: Make, report: dict[str, Any]) -> None:
    cases = [a_case("one"), a_case("two"), a_case("three")]
    readers = [
        reader("good", [], []),
        reader("bad", ["toy/rows/one", "toy/rows/two@cut:1"], ["toy/rows/three"]),
    ]
    page = site_page({**report, "readers": readers}, cases, {"toy/rows/one": ("read by x",)})
    rows = page.data["rows"]
    assert [row["results"] for row in rows] == [
        ["passed", "failed"],
        ["passed", "failed"],
        ["passed", ""],
    ]
    assert rows[1]["answers"] == ["", "@cut:1"]
    assert [row["by"] for row in rows] == [OTHERS, AUTHOR, AUTHOR]
    (line,) = page.matrices[0].rows
    assert [(cell.text, cell.state) for cell in line.cells] == [("3/3", "good"), ("1/3", "bad")]
    assert line.cells[1].link == "#format=toy&reader=1&result=not%20passed"
    assert page.not_run == ("Go decoder: go is not installed: go",)


def test_details_of_a_format_are_one_script() -> None:
    case = load_case(CASE)
    text = details_script("craft", [case], {})
    assert text.startswith('cdcwireDetails("craft", {"craft/options/delete-handle-key-only":')
    assert text.isascii()


def test_site_is_a_page_and_a_script_for_each_format(
    tmp_path: Path, a_case: Make, report: dict[str, Any]
) -> None:
    pytest.importorskip("jinja2")
    readers = [reader("good", [], [])]
    said: list[str] = []
    page = site_page({**report, "readers": readers}, [a_case()], {})
    write_site(tmp_path / "site", page, [a_case()], {}, said.append)
    found = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.*"))
    assert found == ["site/cases/toy.js", "site/index.html"]
    assert said == ["the cases of toy"]


def test_result_that_cannot_be_written_stops_the_command_before_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for option in ("--json", "--junit", "--markdown", "--write-expected-failures"):
        file = tmp_path / "missing" / "results"
        started = tmp_path / "started"
        command = ["--", "sh", "-c", f"touch {started}"]
        assert main(["verify", "craft", option, str(file), *command]) == 2
        err = capsys.readouterr().err
        assert err == (
            f"cdcwire verify: {option}: {file} cannot be written: No such file or directory\n"
        )
        assert not started.exists()


def test_html_without_jinja_stops_the_command_before_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    assert main(["verify", "craft", "--html", str(tmp_path / "page.html")]) == 2
    err = capsys.readouterr().err
    assert err.startswith(
        "cdcwire verify: An HTML page needs the package jinja2 (extra html): pip install 'jinja2"
    )
    assert err.count("\n") == 1


def test_verify_writes_the_page(tmp_path: Path) -> None:
    pytest.importorskip("jinja2")
    file = tmp_path / "page.html"
    words = ["verify", "craft", "--case", "craft/options/*", "--html", str(file)]
    assert main(words) == 0
    text = file.read_text(encoding="utf-8")
    assert "PASSED" in text
    assert list(tmp_path.iterdir()) == [file]


def test_site_needs_a_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("jinja2")
    words = ["report", "--to", str(tmp_path), "--html", str(tmp_path / "site")]
    file = tmp_path / "report" / "report.json"
    assert main(words) == 2
    err = capsys.readouterr().err
    assert err == f"cdcwire report: {file} not found; `cdcwire report` writes it\n"
    file.parent.mkdir()
    for text in ("{", "[]", '{"readers": []}'):
        file.write_text(text, encoding="utf-8")
        assert main(words) == 2
        assert "is not a report of this version" in capsys.readouterr().err


def test_site_without_jinja_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    assert main(["report", "--html", str(tmp_path)]) == 2
    assert "pip install 'jinja2" in capsys.readouterr().err
