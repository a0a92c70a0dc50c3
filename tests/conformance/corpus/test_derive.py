"""Malformed cases by rule: each is rejected by the reference, and only so."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from cdcwire.core.errors import DecodeError
from cdcwire.registry import FORMAT_NAMES, get_format
from cdcwire_conformance.corpus.case import Case, Level
from cdcwire_conformance.corpus.derive import derive_cases, find_case, is_base
from cdcwire_conformance.corpus.store import load_case, load_cases
from cdcwire_conformance.mutations import LONG_PART
from cdcwire_conformance.suite import get_suite

_MOST_SECONDS = 5.0  # of CPU, for one small message; a count that was believed takes for ever


def derived(golden: Path) -> dict[str, Case]:
    cases = list(derive_cases(load_case("craft/events/resolved", golden)))
    names = [str(case.derived) for case in cases]
    assert len(set(names)) == len(names)
    return dict(zip(names, cases, strict=True))


def test_resolved_message_gives_each_kind_of_case(golden: Path) -> None:
    cases = derived(golden)
    assert {f"cut:{size}" for size in range(12)} <= set(cases)
    others = set(cases) - {f"cut:{size}" for size in range(12)}
    assert {
        "trailing",
        "tag:2=4",
        "size:7+1",
        "size:11-1",
        "bomb:9",
    } <= others


def test_changed_size_keeps_the_tail_right(golden: Path) -> None:
    value = derived(golden)["bomb:9"].messages[0].value  # the count of the table of bodies
    assert value is not None
    assert value == bytes.fromhex("010103010101 020a09 808080808020 00 0a")


def test_derived_case_is_a_must_reject_with_the_clauses_of_its_base(golden: Path) -> None:
    base = load_case("craft/events/resolved", golden)
    case = find_case("craft/events/resolved@trailing", golden)
    assert (case.level, case.expect, case.clauses) == ("must", "reject", base.clauses)
    assert case.events is None
    assert case.error == {"message": 0}
    assert case.origin == "derived: from craft/events/resolved"


@pytest.mark.parametrize("level", ["may", "unspecified"])
def test_nothing_is_derived_from_optional_cases(golden: Path, level: Level) -> None:
    base = replace(load_case("craft/events/resolved", golden), level=level)
    assert not is_base(base)
    assert not list(derive_cases(base))


def test_nothing_is_derived_from_reject_cases(golden: Path) -> None:
    assert not list(derive_cases(load_case("craft/events/version-2", golden)))


@pytest.mark.parametrize("name", FORMAT_NAMES)
def test_every_format_has_rules(name: str) -> None:
    assert get_suite(name).mutations.parts


def test_suite_of_an_unknown_format_is_an_error() -> None:
    with pytest.raises(ValueError, match="unknown format 'no-such-format'"):
        get_suite("no-such-format")


def bases(format_name: str) -> list[Case]:
    """One case a group, the smallest: each structure is there, and the time is bearable.

    ``cdcwire verify`` puts those of all cases to the reference.
    """
    smallest: dict[str, Case] = {}
    for case in load_cases([format_name]):
        if is_base(case) and all(size_of(case) < size_of(c) for c in _of(smallest, case.group)):
            smallest[case.group] = case
    return list(smallest.values())


def _of(smallest: dict[str, Case], group: str) -> Iterator[Case]:
    if group in smallest:
        yield smallest[group]


def size_of(case: Case) -> int:
    return len(case.messages[0].value or b"")


@pytest.mark.parametrize("name", FORMAT_NAMES)
def test_derived_cases_are_rejected_with_a_decode_error_in_time(name: str) -> None:
    """No derived case is legal, and none makes the reference crash, hang or fill the memory."""
    format_ = get_format(name)
    for base in bases(name):
        context = base.context()
        for case in derive_cases(base):
            started = time.process_time()
            with pytest.raises(DecodeError):
                list(format_.to_events(case.messages[0], context=context))
            assert time.process_time() - started < _MOST_SECONDS, case.id


def test_long_messages_are_cut_near_borders_only() -> None:
    long_cases = [c for c in load_cases(["craft"]) if is_base(c) and size_of(c) > LONG_PART]
    for case in long_cases[:1]:
        cuts = [d for d in derive_cases(case) if str(d.derived).startswith("cut:")]
        assert 0 < len(cuts) < size_of(case) / 4


@pytest.mark.parametrize(
    ("base", "change"),
    [
        ("craft-proposal/growth/surplus-after-keys", "length:21+1"),
        ("craft-proposal/growth/surplus-in-group", "length:25+1"),
        ("craft-proposal/names/scripts", "length:26-1"),
    ],
)
def test_name_of_a_wrong_length_gives_no_case_where_only_its_utf8_is_wrong(
    base: str, change: str
) -> None:
    """The bytes after a name are surplus, so a reader that replaces ill-formed UTF-8 takes it."""
    found = {case.derived for case in derive_cases(load_case(base))}
    assert change not in found
    assert found
