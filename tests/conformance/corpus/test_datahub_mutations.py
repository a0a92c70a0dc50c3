"""What is changed in DataHub bodies and records: sums are put right around a change."""

from __future__ import annotations

import json
from functools import cache

import pytest

from cdcwire.core.errors import DecodeError
from cdcwire.datahub.frame import crc32c
from cdcwire.registry import get_format
from cdcwire_conformance.corpus.case import Case
from cdcwire_conformance.corpus.derive import derive_cases
from cdcwire_conformance.corpus.store import load_case

BATCH = "datahub-tuple/document/rows-batch"
RECORD = "datahub-blob/ops/insert"


@cache
def derived(case_id: str) -> dict[str, Case]:
    return {str(case.derived): case for case in derive_cases(load_case(case_id))}


def value_of(case: Case) -> bytes:
    value = case.messages[0].value
    assert value is not None
    return value


def problem_of(case: Case) -> DecodeError:
    with pytest.raises(DecodeError) as caught:
        list(get_format(case.format).to_events(case.messages[0], context=case.context()))
    return caught.value


def kinds_of(case_id: str) -> set[str]:
    return {name.partition(":")[0] for name in derived(case_id)}


def test_batch_has_changes_of_each_kind() -> None:
    assert kinds_of(BATCH) == {"cut", "trailing", "tag", "length", "count", "bomb"}


def test_change_in_a_batch_has_right_sums_around_it() -> None:
    changed = [case for name, case in derived(BATCH).items() if name.startswith("count")]
    assert changed
    for case in changed:
        raw = value_of(case)
        assert raw[4:8] == crc32c(raw[12:]).to_bytes(4, "big")
        start = raw.index(b"DHUB", 4)
        assert raw[start + 16 : start + 20] == crc32c(raw[start + 26 :]).to_bytes(4, "little")
        assert problem_of(case).clause != "datahub: checksums"


def test_flag_of_an_update_is_changed_in_all_encodings() -> None:
    for case_id in ("updates/pair", "document/rows-protobuf", "document/rows-batch"):
        cases = derived(f"datahub-tuple/{case_id}")
        flags = [case for name, case in cases.items() if name.endswith(("=Y", "=N"))]
        assert flags
        assert {problem_of(case).clause for case in flags} == {"datahub-tuple: image flags"}


def test_record_has_changes_of_each_kind() -> None:
    assert kinds_of(RECORD) == {"cut", "trailing", "tag", "member", "quote"}


def test_member_that_is_left_out_leaves_legal_json() -> None:
    left_out = [case for name, case in derived(RECORD).items() if name.startswith("member")]
    clauses = set()
    for case in left_out:
        json.loads(value_of(case))
        clauses.add(problem_of(case).clause.partition(": ")[2])
    assert clauses == {
        *("members", "ops", "columns", "source", "row images", "sequence ids"),
        "timestamps",
    }


def test_members_of_a_heartbeat_that_may_go_are_left_alone() -> None:
    names = {name for name in derived("datahub-blob/ops/mheartbeat") if name.startswith("member")}
    assert len(names) == 5  # schema, payload, op, timestamp, eventTime


def test_null_keeps_its_meaning_and_its_form() -> None:
    raw = value_of(load_case("datahub-blob/values/null-text"))
    text = raw.index(b',"b":"null"')
    quotes = {name for name in derived("datahub-blob/values/null-text") if name.startswith("quote")}
    assert f"quote:{text}" not in quotes
    assert quotes
