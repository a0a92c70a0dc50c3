"""The check of the corpus: each kind of problem is found, and a good corpus has none."""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any

import pytest

from cdcwire_conformance.corpus.check import Problem, check_corpus
from cdcwire_conformance.corpus.rebuild import rebuild

EVENTS = Path("craft") / "events"


def problems_of(golden: Path, pages: Path) -> list[str]:
    return [str(problem) for problem in check_corpus(golden, pages).problems]


def test_good_corpus_has_no_problem(golden: Path, pages: Path) -> None:
    result = check_corpus(golden, pages)
    assert result.problems == ()
    assert result.cases == 2


CHANGES: list[tuple[str, dict[str, Any], str]] = [
    ("clause-on-no-page", {"clause": ["craft: nothing"]}, "clause 'craft: nothing' is on no page"),
    ("since-later", {"since": "0.2.0"}, "since 0.2.0: the corpus is 0.1.0"),
    ("feature", {"features": ["wings"]}, "feature 'wings' is not one of craft"),
    ("option", {"options": {"wings": 2}}, "unknown option 'wings'"),
    ("origin-kind", {"origin": "from memory"}, "origin: 'from memory' does not match"),
    ("event", {"events": [{"kind": "progress", "what": "done"}]}, "events[0].what"),
    (
        "number-carries-value",
        {"events": [{"kind": "row", "op": "insert", "before": None, "after": {"id": 1}}]},
        "events[0].after.id",
    ),
    ("table", {"tables": [{"columns": [{"name": "a", "type": "number"}]}]}, "number"),
]


@pytest.mark.parametrize(
    ("members", "problem"), [c[1:] for c in CHANGES], ids=[c[0] for c in CHANGES]
)
def test_wrong_member_is_found(
    golden: Path, pages: Path, edit: Any, members: dict[str, Any], problem: str
) -> None:
    edit(**members)
    rebuild_as_far_as_possible(golden)
    found = [text for text in problems_of(golden, pages) if problem in text]
    assert found
    assert all(text.startswith("craft/events/resolved.json: ") for text in found)


SLIPS: list[tuple[str, dict[str, Any], str]] = [
    ("level-unknown", {"level": "perhaps"}, "level: 'perhaps' is not one of"),
    ("expect-missing", {"expect": None}, "not finished; missing: expect"),
    ("title-number", {"title": 7}, "title: 7 is not of type 'string'"),
    ("member-unknown", {"colour": "red"}, "('colour' was unexpected)"),
    ("clause-empty", {"clause": []}, "not finished; missing: clause"),
    ("clause-text", {"clause": "craft: limits"}, "clause: 'craft: limits' is not of type 'array'"),
    ("clause-of-numbers", {"clause": [1]}, "clause[0]: 1 is not of type 'string'"),
    ("messages-empty", {"messages": []}, "not finished; missing: messages"),
    ("message-no-key", {"messages": [{"value": "resolved.bin"}]}, "messages[0]: 'key' is a"),
    ("file-outside", {"messages": [{"key": None, "value": "../x.bin"}]}, "messages[0].value: "),
    ("events-missing", {"events": None}, "not finished; missing: events"),
    (
        "error-on-accept",
        {"error": {"clause": "x"}},
        "error: not allowed in a case of this kind",
    ),
    ("may-without-choice", {"level": "may"}, "'choice' is a required property"),
    ("must-with-choice", {"choice": "a: b"}, "choice: not allowed in a case of this kind"),
    ("canonical-text", {"canonical": "yes"}, "canonical: 'yes' is not of type 'boolean'"),
    ("option-list", {"options": {"a": []}}, "options.a: [] is not of type"),
    ("sum-number", {"sha256": {"resolved.bin": 1}}, "sha256.resolved.bin: 1 is not of type"),
]


@pytest.mark.parametrize(("members", "problem"), [s[1:] for s in SLIPS], ids=[s[0] for s in SLIPS])
def test_slip_in_accept_case_is_named(
    golden: Path, pages: Path, edit: Any, members: dict[str, Any], problem: str
) -> None:
    edit(**members)
    found = [text for text in problems_of(golden, pages) if problem in text]
    assert found
    assert found[0].startswith("craft/events/resolved.json: ")


@pytest.mark.parametrize(
    ("error", "problem"),
    [
        ({"clause": "craft: limits"}, "error.clause is not one of the case's clauses"),
        ({"clause": "craft: version", "offset": -1}, "error.offset: -1 is less than the minimum"),
        ({"clause": "craft: version", "message": 1}, "not the number of a message"),
        ({"clause": "craft: version", "path": [None]}, "error.path[0]: None"),
        ({"clause": "craft: version", "part": "blob"}, "error.part: 'blob' is not one of"),
        ({"clause": "craft: version", "byte": 0}, "('byte' was unexpected)"),
        ({}, "not finished; missing: error"),
    ],
)
def test_slip_in_error_is_named(
    golden: Path, pages: Path, edit: Any, error: dict[str, Any], problem: str
) -> None:
    edit("version-2", error=error)
    assert any(problem in text for text in problems_of(golden, pages))


def test_rebuild_keeps_a_member_that_is_unknown(golden: Path, pages: Path, edit: Any) -> None:
    edit(colour="red")
    rebuild(golden)
    assert any("'colour' was unexpected" in text for text in problems_of(golden, pages))


def rebuild_as_far_as_possible(golden: Path) -> None:
    from cdcwire_conformance.corpus.case import CorpusError

    try:
        rebuild(golden)
    except CorpusError:
        return


def test_clause_without_case_is_found(golden: Path, pages: Path) -> None:
    page = pages / "craft.md"
    page.write_text(page.read_text() + "\n### craft: limits\n")
    where = f"craft.md:{len(page.read_text().splitlines())}"
    assert problems_of(golden, pages) == [f"{where}: clause 'craft: limits' has no case"]


def test_clause_of_another_format_is_found(golden: Path, pages: Path, edit: Any) -> None:
    (pages / "avro.md").write_text("### avro: nulls\n")
    edit(clause=["craft: resolved events", "avro: nulls"])
    rebuild(golden)
    assert any("belongs to another format" in text for text in problems_of(golden, pages))


def test_changed_bytes_are_found(golden: Path, pages: Path) -> None:
    (golden / EVENTS / "resolved.bin").write_bytes(b"\x01")
    assert any("differs from its sum" in text for text in problems_of(golden, pages))


def test_file_of_no_case_is_found(golden: Path, pages: Path) -> None:
    (golden / EVENTS / "stray.bin").write_bytes(b"")
    (golden / "notes.txt").write_text("")
    assert problems_of(golden, pages) == [
        "craft/events/stray.bin: belongs to no case",
        "notes.txt: belongs to no case",
    ]


@pytest.mark.parametrize("name", ["craft/events/resolved.hex", "index.json"])
def test_made_file_that_is_old_is_found(golden: Path, pages: Path, name: str) -> None:
    (golden / name).write_text('{"corpus": "0.1.0", "cases": []}')
    assert any(text.startswith(f"{name}: is not up to date") for text in problems_of(golden, pages))


def test_form_of_a_case_file_is_checked(golden: Path, pages: Path, edit: Any) -> None:
    edit(title="a resolved event")
    assert problems_of(golden, pages)[0].startswith(
        "craft/events/resolved.json: is not in its usual form"
    )


def test_case_that_can_not_be_read_is_found(golden: Path, pages: Path) -> None:
    (golden / EVENTS / "resolved.json").write_text("{")
    found = problems_of(golden, pages)
    assert any(text.startswith("craft/events/resolved.json: not JSON") for text in found)


def test_retired_id_in_use_is_found(golden: Path, pages: Path) -> None:
    (golden / "retired.json").write_text('{"craft/events/resolved": "reason"}')
    assert check_corpus(golden, pages).problems == (
        Problem("craft/events/resolved.json", "the id is retired, and never used again"),
    )


def test_without_jsonschema_the_check_says_what_it_left_out(
    golden: Path, pages: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name == "jsonschema":
            raise ImportError(name)
        return usual(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    result = check_corpus(golden, pages)
    assert result.problems == ()
    assert result.skipped[0].startswith("JSON Schemas")


def test_clause_that_other_formats_share_is_found(golden: Path, pages: Path, edit: Any) -> None:
    (pages / "storage.md").write_text("# Storage\n\n### storage: names\n\nNames are names.\n")
    edit(clause=["craft: resolved events", "storage: names"])
    rebuild(golden)
    assert problems_of(golden, pages) == [
        "craft/events/resolved.json: clause 'storage: names' belongs to another format"
    ]
