"""The chapter about DataFrames, with comparisons that are only played."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cdcwire_evidence.report import compare
from cdcwire_evidence.report.compare import (
    FULL,
    PAIRS,
    QUICK,
    Difference,
    Pair,
    Stream,
    compare_part,
    expected_names,
    named_by,
    plant,
)
from cdcwire_evidence.report.part import Part

COUNTS = {"same": 990}
PAIR = Pair("craft", "open-protocol", keeps_scale=True)
LESS = Pair("avro", "canal-json", frozenset({"commit_ms"}), ("enable-tidb-extension=true",))


def document_of(planted: list[Difference], left_out: frozenset[str] = frozenset()) -> Any:
    """Return the document of a comparison that names exactly these differences."""
    differences = [
        {
            "verdict": each.verdict,
            "position": {"commit_ts": str(each.change.position.commit_ts)},
            "columns": [] if each.column is None else [{"column": each.column}],
        }
        for each in planted
    ]
    table = {"counts": COUNTS, "differences": differences, "paired_by": ["commit_ts", "id"]}
    return {
        "equal": not planted,
        "left_out": [{"name": name, "reason": "lost"} for name in left_out],
        "tables": [table],
    }


class Played:
    """Answers as a right comparison would; ``change`` makes another answer of it."""

    def __init__(
        self, pairs: list[Pair], change: Callable[[Any], Any] = lambda found: found
    ) -> None:
        self.asked: list[tuple[str, ...]] = []
        self._pairs = iter(compare._comparisons(pairs, True))
        self._change = change

    def compare(self, left: str, right: str, *more: str) -> tuple[int, str, Any]:
        self.asked.append((left, right, *more))
        pair, is_planted = next(self._pairs)
        planted = plant(QUICK, QUICK.changes(), pair.keeps_scale)[0] if is_planted else []
        said = f"left   {left}\nright  {right}\n"
        found = int(is_planted), said, document_of(planted, pair.left_out)
        result: tuple[int, str, Any] = self._change(found)
        return result


def part_of(folder: Path, pairs: list[Pair], played: Played) -> Part:
    @contextlib.contextmanager
    def comparer() -> Iterator[Played]:
        yield played

    return compare_part(True, folder, pairs, comparer)


@pytest.fixture(autouse=True)
def _pyspark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare, "find_spec", lambda name: name)


@pytest.mark.parametrize("stream", [QUICK, FULL])
@pytest.mark.parametrize("keeps_scale", [True, False])
def test_planted_are_changes_one_loss_and_one_copy(stream: Stream, keeps_scale: bool) -> None:
    changes = stream.changes()
    planted, content = plant(stream, changes, keeps_scale)
    assert len(content) == len(changes) == stream.rows
    changed = [each.column for each in planted if each.verdict == "changed"]
    scale = [stream.decimal] * keeps_scale
    assert changed == [stream.text, stream.decimal, stream.nullable, *scale]
    assert [each.verdict for each in planted[len(changed) :]] == ["only left", "doubled"]
    assert len({id(each.change) for each in planted}) == len(planted)
    both = set(map(id, changes)) & set(map(id, content))
    assert len(both) == len(changes) - len(changed) - 1
    document = document_of(planted)
    assert expected_names(planted, document) == named_by(document)
    assert len(named_by(document)) == len(planted)


def test_every_pair_of_the_main_job_has_planted_differences() -> None:
    asked = list(compare._comparisons(PAIRS, True))
    assert [pair for pair, is_planted in asked if is_planted] == [
        pair for pair in PAIRS if not pair.only_full
    ]
    assert [is_planted for _, is_planted in asked].count(False) == 1
    assert len(list(compare._comparisons(PAIRS, False))) > len(asked)


def test_chapter_shows_verdicts_and_what_was_printed(tmp_path: Path) -> None:
    pairs = [PAIR, LESS]
    played = Played(pairs)
    part = part_of(tmp_path, pairs, played)
    assert (part.status, part.passed, part.asked) == ("passed", 3, 3)
    assert [(each.expected, each.found, each.unexpected) for each in part.planted] == [
        (0, 0, 0),
        (6, 6, 0),
        (5, 5, 0),
    ]
    assert sum(line.endswith("| as planted |") for line in part.lines) == 3
    assert "    left   craft:file:left" in part.lines
    assert not any(str(tmp_path) in line for line in part.lines)
    assert played.asked[-1][-2:] == ("--option", "enable-tidb-extension=true")
    feeds = list(tmp_path.rglob("messages.jsonl"))
    assert len(feeds) == 6
    assert all(feed.stat().st_size > 50_000 for feed in feeds)


def without_first(found: Any) -> Any:
    found[2]["tables"][0]["differences"] = found[2]["tables"][0]["differences"][1:]
    return found


def with_another(found: Any) -> Any:
    other = {"verdict": "only right", "position": {"commit_ts": "1"}, "columns": []}
    found[2]["tables"][0]["differences"].append(other)
    return found


def with_less_compared(found: Any) -> Any:
    found[2]["left_out"].append({"name": "before images of updates", "reason": "lost"})
    return found


def with_exit_code(found: Any) -> Any:
    return 2, *found[1:]


def without_document(found: Any) -> Any:
    return 2, "cdcwire compare: it | broke", None


@pytest.mark.parametrize(
    "change",
    [without_first, with_another, with_less_compared, with_exit_code, without_document],
)
def test_another_result_than_planted_fails_the_chapter(
    tmp_path: Path, change: Callable[[Any], Any]
) -> None:
    pairs = [LESS]
    part = part_of(tmp_path, pairs, Played(pairs, change))
    assert part.status == "failed"
    assert part.attention
    assert any(line.endswith("| **no** |") for line in part.lines)


def test_without_pyspark_or_java_it_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def without_java(found: Any) -> Any:
        return 2, "cdcwire compare: Spark needs Java 17 or newer; install it", None

    part = part_of(tmp_path, [PAIR], Played([PAIR], without_java))
    assert [each.why for each in part.not_run] == ["Spark needs Java 17 or newer; install it"]
    assert part.status == "not run"

    monkeypatch.setattr(compare, "find_spec", lambda name: None)
    (missing,) = compare_part(True, tmp_path).not_run
    assert "PySpark" in missing.why
