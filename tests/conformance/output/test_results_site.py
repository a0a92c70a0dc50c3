"""The site of results: stored runs in, pages, badges and a feed out."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest
from referencing import Registry, Resource

from cdcwire_conformance.cli import main
from cdcwire_conformance.corpus.store import corpus_version
from cdcwire_conformance.output.results.history import readers_of, version_order
from cdcwire_conformance.output.results.stored import (
    StoredRun,
    StoredRunError,
    read_run,
    run_of,
    store_run,
)

pytest.importorskip("jinja2")
ATOM = "{http://www.w3.org/2005/Atom}"
HOSTILE = "<script>alert(1)</script>\x1b[31m\u202e"
FORMAT = "craft"
RIGHT, WRONG = "craft/values/year-2024", "craft/options/delete-handle-key-only"

Make = Callable[..., StoredRun]


def outcome(case_id: str, verdict: str, **more: Any) -> dict[str, Any]:
    return {
        "id": case_id,
        "cmd": "decode",
        "title": "a title",
        "level": "must",
        "expect": "accept",
        "verdict": verdict,
        "binding": True,
        "clause": [],
        **more,
    }


def results_of(*outcomes: dict[str, Any], **more: Any) -> dict[str, Any]:
    counts: dict[str, int] = {}
    for each in outcomes:
        counts[each["verdict"]] = counts.get(each["verdict"], 0) + 1
    return {
        "results": 1,
        "testee": {
            "name": "toy",
            "version": "1",
            "language": "",
            "command": "",
            "mode": "kept alive",
            "formats": {},
        },
        "corpus": corpus_version(),
        "seconds": 1,
        "passed": "failed" not in counts,
        "interrupted": False,
        "formats": {FORMAT: {"stored": counts, "derived": {}}},
        "groups": [],
        "outcomes": list(outcomes),
        "stale": [],
        "leaks": [],
        "left_out": {},
        "notes": [],
        **more,
    }


@pytest.fixture
def make() -> Make:
    """A function that makes a run with one right and one wrong answer."""
    wrong = outcome(
        WRONG,
        "failed",
        differences=[{"path": ["events", 0], "expected": HOSTILE, "got": "2"}],
    )
    group = {
        "section": "accept",
        "binding": True,
        "part": "column",
        "types": ["year"],
        "expected": HOSTILE,
        "got": "2",
        "clauses": [],
        "hint": "",
        "decline": "",
        "count": 1,
        "alone": 1,
        "cases": [WRONG],
    }
    results = results_of(outcome(RIGHT, "passed"), wrong, groups=[group])

    def made(**members: Any) -> StoredRun:
        run = StoredRun(
            *("toy", "pypi:toy", "1.0", FORMAT),
            *("2026-11-01", "2026-11-01", "python toy.py"),
            results,
        )
        return replace(run, **members)

    return made


def site_of(folder: Path) -> Path:
    assert main(["report", "site", str(folder), "--to", str(folder / "site")]) == 0
    return folder / "site"


def text_of(page: Path) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", page.read_text(encoding="utf-8")).split())


def test_stored_run_has_the_form_of_its_schema_and_comes_back(make: Make, tmp_path: Path) -> None:
    package = files("cdcwire_conformance")
    schemas = [
        json.loads(package.joinpath(name).read_text(encoding="utf-8"))
        for name in (
            "output/schemas/stored-run.schema.json",
            "protocol/schemas/results.schema.json",
        )
    ]
    known = Registry().with_resources(
        (schema["$id"], Resource.from_contents(schema)) for schema in schemas
    )
    validator = jsonschema.Draft202012Validator(schemas[0], registry=known)
    for run in (make(), make(version="2", results=None, problem="not installed")):
        file = store_run(tmp_path, run)
        validator.validate(json.loads(file.read_text(encoding="utf-8")))
        assert read_run(file) == run


def test_unchanged_result_moves_the_last_day(make: Make, tmp_path: Path) -> None:
    first = store_run(tmp_path, make())
    slower = {**(make().results or {}), "seconds": 9}
    again = store_run(tmp_path, make(date="2026-11-05", last="2026-11-05", results=slower))
    assert again == first
    assert (read_run(first).date, read_run(first).last) == ("2026-11-01", "2026-11-05")


def test_changed_result_is_a_file_of_its_own(make: Make, tmp_path: Path) -> None:
    store_run(tmp_path, make())
    right = results_of(outcome(RIGHT, "passed"), outcome(WRONG, "passed"))
    store_run(tmp_path, make(date="2026-11-05", last="2026-11-05", results=right))
    (reader,) = readers_of(read_run(file) for file in sorted(tmp_path.rglob("*.json")))
    (release,) = reader.releases
    assert [run.date for run in release.runs] == ["2026-11-01", "2026-11-05"]
    assert release.change == "1/2 until 2026-11-01"


def test_versions_are_ordered_by_their_numbers() -> None:
    ordered = ["1.9.9", "1.10.0rc1", "1.10.0", "1.10.1", "v2.0", "checkout"]
    assert sorted(ordered[3::-1], key=version_order) == ordered[:4]
    assert len({version_order(each) for each in ordered}) == len(ordered)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"run": 2}, "form 2; this version of cdcwire reads form 1"),
        ({"run": None}, "form None; this version of cdcwire reads form 1"),
        ({"format": "morse"}, "unknown format 'morse'"),
        ({"date": "yesterday"}, "member 'date' is not a date: 'yesterday'"),
        ({"date": "20261101"}, "member 'date' is not a date: '20261101'"),
        ({"last": "2026-10-31"}, "the last day is before the first"),
        (
            {"results": results_of(formats={FORMAT: {"stored": {"passed": 10**4000}}})},
            "its results are damaged: the counts of a format",
        ),
        ({"version": 1}, "member 'version' is not a text"),
        ({"results": None}, "neither results nor a problem"),
        ({"results": {"results": 0}}, "its results do not have form 1"),
        ({"results": results_of(formats=[])}, "its results are damaged: member 'formats'"),
        ({"results": results_of(outcomes=[1])}, "its results are damaged: member 'outcomes'"),
        ({"results": results_of(outcomes=[{}])}, "its results are damaged: an outcome"),
        ({"results": results_of(groups=[{}])}, "its results are damaged: a group"),
        (
            {"results": results_of(corpus=None)},
            "its results are damaged: no version of the corpus",
        ),
        (
            {"results": results_of(formats={FORMAT: {"stored": {"won": 1}}})},
            "its results are damaged: the counts of a format",
        ),
    ],
    ids=lambda each: each if isinstance(each, str) else "-".join(each),
)
def test_wrong_document_is_refused_with_its_reason(
    change: dict[str, Any], problem: str, make: Make, tmp_path: Path
) -> None:
    document = json.loads(store_run(tmp_path, make()).read_text(encoding="utf-8"))
    with pytest.raises(StoredRunError) as caught:
        run_of({**document, **change})
    assert str(caught.value) == problem


def test_site_has_the_pages_of_readers_and_cases(make: Make, tmp_path: Path) -> None:
    store_run(tmp_path, make())
    store_run(tmp_path, make(version="0.9", results=None, problem="not installed: gone"))
    site = site_of(tmp_path)
    index = text_of(site / "index.html")
    assert "toy 1.0 1/2" in index
    assert "toy 0.9 , craft, 2026-11-01: not installed: gone" in index
    reader = text_of(site / "readers" / "toy.html")
    assert "What went wrong with 1.0" in reader
    assert WRONG in reader
    case = text_of(site / "cases" / f"{WRONG}.html")
    assert "toy 1.0 failed events[0]: expected" in case
    assert "op/delete-handle-key-only" in case
    assert "toy 1.0 passed" in text_of(site / "cases" / f"{RIGHT}.html")
    pages = {str(each.relative_to(site / "cases")) for each in site.glob("cases/**/*.html")}
    assert pages == {f"{FORMAT}/index.html", f"{RIGHT}.html", f"{WRONG}.html"}


def test_links_of_the_site_lead_to_files(make: Make, tmp_path: Path) -> None:
    store_run(tmp_path, make())
    site = site_of(tmp_path)
    for page in site.rglob("*.html"):
        for link in re.findall(r'(?:href|src)="([^"#]+)', page.read_text(encoding="utf-8")):
            assert (page.parent / link).is_file(), f"{page}: {link}"


def test_files_that_are_no_runs_are_named_and_the_rest_is_shown(make: Make, tmp_path: Path) -> None:
    store_run(tmp_path, make())
    (tmp_path / "cut.json").write_text('{"run": 1,')
    (tmp_path / "older.json").write_text('{"run": 0}')
    (tmp_path / "bare.json").write_text(json.dumps(results_of()))
    index = text_of(site_of(tmp_path) / "index.html")
    assert "toy 1.0 1/2" in index
    assert "cut.json : not JSON at character 11" in index
    assert "older.json : form 0; this version of cdcwire reads form 1" in index
    assert "bare.json : a document of `cdcwire verify --json`;" in index


def test_result_of_another_corpus_is_named_and_its_unknown_cases_have_no_link(
    make: Make, tmp_path: Path
) -> None:
    gone = outcome("craft/values/never-was", "failed", problem="wrong")
    store_run(tmp_path, make(results=results_of(outcome(RIGHT, "passed"), gone, corpus="0.1.0")))
    site = site_of(tmp_path)
    assert f"corpus 0.1.0, not {corpus_version()}" in text_of(site / "index.html")
    assert f"craft/values/never-was (not in corpus {corpus_version()})" in text_of(
        site / "readers" / "toy.html"
    )
    assert not (site / "cases" / "craft" / "values" / "never-was.html").exists()


def test_interrupted_run_is_marked_as_partial(make: Make, tmp_path: Path) -> None:
    part = {**(make().results or {}), "interrupted": True}
    store_run(tmp_path, make(results=part, problem="no end within 1200 s"))
    assert "1.0 1/2 partial" in text_of(site_of(tmp_path) / "index.html")


def test_texts_of_readers_stay_texts(make: Make, tmp_path: Path) -> None:
    store_run(tmp_path, make(reader=HOSTILE, version=HOSTILE, command=HOSTILE))
    site = site_of(tmp_path)
    for page in (each for each in site.rglob("*") if each.suffix in (".html", ".svg", ".atom")):
        text = page.read_text(encoding="utf-8")
        assert "<script" not in text
        assert "\x1b" not in text
        assert "\u202e" not in text


def test_feed_has_an_entry_for_the_new_cases_of_a_version(make: Make, tmp_path: Path) -> None:
    store_run(tmp_path, make())
    words = ["report", "site", str(tmp_path), "--to", str(tmp_path / "site")]
    assert main([*words, "--base-url", "https://example.org/x"]) == 0
    feed = ElementTree.parse(tmp_path / "site" / "new-cases.atom").getroot()
    entries = feed.findall(f"{ATOM}entry")
    assert [each.findtext(f"{ATOM}title") for each in entries] == [
        "Corpus 0.1.0: 2 new cases for craft"
    ]
    assert entries[0].findtext(f"{ATOM}updated") == "2026-11-01T00:00:00Z"
    links = [each.get("href") for each in entries[0].iter() if each.tag.endswith("}a")]
    assert links == [f"https://example.org/x/cases/{each}.html" for each in (WRONG, RIGHT)]


def test_badge_has_the_newest_release(make: Make, tmp_path: Path) -> None:
    store_run(tmp_path, make())
    store_run(tmp_path, make(version="0.9"))
    site = site_of(tmp_path)
    badge = json.loads((site / "badges" / "toy-craft.json").read_text(encoding="utf-8"))
    assert badge == {
        "schemaVersion": 1,
        "label": "cdcwire craft",
        "message": "1.0: 1/2 passed",
        "color": "red",
        "isError": True,
    }
    picture = ElementTree.parse(site / "badges" / "toy-craft.svg").getroot()
    assert picture.get("aria-label") == "cdcwire craft: 1.0: 1/2 passed"


def test_directory_without_runs_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", "site", str(tmp_path), "--to", str(tmp_path / "site")]) == 2
    assert "no stored run" in capsys.readouterr().err
    assert not (tmp_path / "site").exists()
