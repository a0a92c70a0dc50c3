"""Known-wrong decoders are found by generated messages: a sample of the chapter."""

from __future__ import annotations

import sys

import pytest

from cdcwire_conformance.corpus.store import load_cases
from cdcwire_conformance.known_wrong import KnownWrong
from cdcwire_conformance.known_wrong.decoder import right
from cdcwire_conformance.suite import get_suite
from cdcwire_evidence.report import corpus as corpus_chapters
from cdcwire_evidence.report.corpus import generated_part

pytest.importorskip("hypothesis")


def known_wrong(format_name: str, *names: str) -> list[KnownWrong]:
    found = [wrong for wrong in get_suite(format_name).known_wrong if wrong.name in names]
    assert len(found) == len(names)
    return found


@pytest.mark.long
@pytest.mark.parametrize(
    ("format_name", "names"),
    [
        ("craft", ("delete-lost", "null-left-out", "binary-as-text")),
        ("csv", ("key-lost", "null-as-zero")),
        ("datahub-tuple", ("key-lost", "null-left-out")),
    ],
)
def test_decoders_that_misread_rows_are_found_by_few_samples(
    format_name: str, names: tuple[str, ...]
) -> None:
    from cdcwire_conformance.property.known_wrong_search import find

    found = find(format_name, 200, known_wrong(format_name, *names))
    assert {*found.at} == {*names}
    assert found.missed == ()
    assert all(1 <= number <= 200 for number in found.at.values())


def test_right_decoder_and_one_that_accepts_malformed_messages_are_not_found() -> None:
    from cdcwire_conformance.property.known_wrong_search import ONLY_MALFORMED, find, reason

    good = KnownWrong("right", "none", right)
    (lenient,) = known_wrong("craft", "errors-swallowed")
    assert find("craft", 30, [good, lenient]).missed == (good, lenient)
    cases = load_cases()
    assert reason(lenient, "craft", cases) == ONLY_MALFORMED
    (lost,) = known_wrong("craft", "delete-lost")
    assert reason(lost, "craft", cases).startswith("no generated message is like `craft/")


def test_chapter_lists_formats_missed_and_shrunk_decoders(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus_chapters, "_SHRUNK", 1)
    part = generated_part(load_cases(["cdl-json"]), ["cdl-json"], samples=30)
    assert part.status == "passed"
    (row,) = [line for line in part.lines if line.startswith("| cdl-json | ") and "`" not in line]
    number = len(get_suite("cdl-json").known_wrong)
    assert row.split(" | ")[1] == str(number)
    found = int(row.split(" | ")[3])
    missed, shrunk = "\n".join(part.lines).split("### Not found")[1].split("### Shrunk")
    assert missed.count("| cdl-json | ") == number - found > 0
    assert shrunk.count("| cdl-json | ") == 1


def test_missing_extra_is_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    part = generated_part(())
    assert part.status == "not run"
    assert "needs the package hypothesis" in part.not_run[0].why
