"""Frozen sets of requirements: every case has to pass, and no case of a set may change."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from cdcwire_conformance.cli import main
from cdcwire_conformance.corpus.case import CorpusError
from cdcwire_conformance.corpus.requirements import (
    find_set,
    problems_of,
    required_cases,
    requirement_sets,
    sum_of,
)
from cdcwire_conformance.corpus.store import forget_cases, load_case
from cdcwire_conformance.protocol.check import schema


@pytest.fixture
def frozen(golden: Path) -> Path:
    """A golden folder with a set of its two cases."""
    ids = ("craft/events/resolved", "craft/events/version-2")
    write_set(golden, {each: sum_of(load_case(each, golden)) for each in ids})
    return golden


def write_set(golden: Path, cases: dict[str, str], file: str = "tiny-reader-1") -> None:
    document = {
        "name": "tiny-reader",
        "version": 1,
        "title": "reads two messages",
        "format": "craft",
        "corpus": "0.1.0",
        "features": ["resolved"],
        "cases": cases,
    }
    (golden / "requirements").mkdir(exist_ok=True)
    (golden / "requirements" / f"{file}.json").write_text(json.dumps(document))


def verify(golden: Path, *words: str) -> int:
    return main(["verify", "--claim", "tiny-reader 1", "--root", str(golden), *words])


def test_each_set_of_the_corpus_is_as_it_was_frozen() -> None:
    sets = {str(each): each for each in requirement_sets()}
    assert {name: len(each.sums) for name, each in sets.items()} == {
        "canal-json-reader 1": 101,
        "debezium-reader 1": 342,
    }
    for each in sets.values():
        assert not list(problems_of(each))
        assert {case.level for case in required_cases(each)} == {"must"}
        assert {case.expect for case in required_cases(each)} == {"accept", "reject"}


def test_claim_is_met_and_badge_and_results_say_so(
    frozen: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    badge, results = tmp_path / "badge.json", tmp_path / "results.json"
    assert verify(frozen, "--badge", str(badge), "--json", str(results)) == 0
    assert "tiny-reader 1: met, 2 of 2 cases passed\n" in capsys.readouterr().out
    shown = json.loads(badge.read_text())
    assert (shown["label"], shown["message"]) == ("cdcwire tiny-reader 1", "met")
    document = json.loads(results.read_text())
    jsonschema.validate(document, schema("results"))
    assert document["claim"] == {"name": "tiny-reader 1", "cases": 2, "met": True}


def test_declined_feature_of_a_set_is_a_failure(
    frozen: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    badge = tmp_path / "badge.json"
    assert verify(frozen, "--without", "resolved", "--badge", str(badge)) == 1
    text = capsys.readouterr().out
    assert "tiny-reader 1: not met, 1 of 2 cases passed\n" in text
    assert text.endswith("FAILED: tiny-reader 1 is not met\n")
    shown = json.loads(badge.read_text())
    assert (shown["message"], shown["color"]) == ("not met: 1 of 2 cases passed", "red")


def test_level_of_today_does_not_count(frozen: Path, edit: Any) -> None:
    edit("version-2", level="should")
    [_, second] = required_cases(find_set("tiny-reader 1", frozen), frozen)
    assert (second.id, second.level) == ("craft/events/version-2", "must")


def test_changed_case_is_found(frozen: Path, edit: Any, capsys: pytest.CaptureFixture[str]) -> None:
    edit(events=[{"kind": "progress", "what": "resolved", "position": {"commit_ts": "2"}}])
    problem = "craft/events/resolved has changed since tiny-reader 1 was frozen; retire it instead"
    assert main(["corpus", "check", "--root", str(frozen)]) == 1
    assert f"requirements/tiny-reader-1.json: {problem}\n" in capsys.readouterr().out
    with pytest.raises(CorpusError, match="has changed since"):
        required_cases(find_set("tiny-reader 1", frozen), frozen)


@pytest.mark.parametrize(
    "change",
    [{"title": "another"}, {"level": "should"}, {"note": "why"}, {"origin": "derived: again"}],
    ids=lambda change: next(iter(change)),
)
def test_sum_is_of_the_question_and_the_answer_only(
    frozen: Path, edit: Any, change: dict[str, str]
) -> None:
    edit(**change)
    assert not list(problems_of(find_set("tiny-reader 1", frozen), frozen))


def test_retired_case_is_not_asked(frozen: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for file in (frozen / "craft" / "events").glob("version-2.*"):
        file.unlink()
    forget_cases()
    required = find_set("tiny-reader 1", frozen)
    assert [problem for _, problem in problems_of(required, frozen)] == [
        "craft/events/version-2 is missing, and it is not retired"
    ]
    (frozen / "retired.json").write_text('{"craft/events/version-2": "wrong"}')
    assert [case.id for case in required_cases(required, frozen)] == ["craft/events/resolved"]
    assert verify(frozen) == 0
    assert "tiny-reader 1: met, 1 of 1 case passed\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--claim", "tiny-raeder 1"], "known: tiny-reader 1; did you mean 'tiny-reader 1'?"),
        (["--claim", "tiny-reader 1", "csv"], "tiny-reader 1 is about craft"),
        (["--claim", "tiny-reader 1", "--level", "must"], "leave out --level"),
        (["--claim", "tiny-reader 1", "--case", "a", "--derived"], "--case and --derived"),
        (["--claim", "tiny-reader 1", "--sample", "9"], "leave out --sample"),
        (["--claim", "tiny-reader 1", "--property", "9"], "--property runs none of them"),
    ],
)
def test_claim_that_cannot_be_judged_is_one_line(
    words: list[str], problem: str, frozen: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", *words, "--root", str(frozen)]) == 2
    shown = capsys.readouterr()
    assert problem in shown.err
    assert shown.err.count("\n") == 1
    assert not shown.out


def test_file_of_another_name_is_a_problem(frozen: Path) -> None:
    write_set(frozen, {}, "tiny-reader-2")
    with pytest.raises(CorpusError, match="the set is tiny-reader 1"):
        requirement_sets(frozen)
