"""Hidden values in every report, from results made by hand."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from dataclasses import replace

import pytest

from cdcwire_conformance.compare.document import document, json_text, junit_text, schema
from cdcwire_conformance.compare.masking import Mask, redacted, without_quotes
from cdcwire_conformance.compare.patterns import patterns_of
from cdcwire_conformance.compare.report import text
from cdcwire_conformance.compare.result import (
    ABSENT,
    NULL,
    REDACTED,
    ColumnDifference,
    Comparison,
    Counts,
    DdlDifference,
    RowDifference,
    Shown,
    TableComparison,
    UnreadableMessage,
    beginning_of,
)

KEY = b"a key of thirty-two bytes exactly"
MASK = Mask(KEY, "the key of --mask-key")
SECRETS = (
    "secret-id",
    "secret-old",
    "secret-new",
    "7365637265742d31",
    "secret-ddl",
    "secret-quote",
)
DIGESTED = re.compile(r"<masked ([0-9a-f]{16}), \d+ (?:character|byte)s?>")


def difference(*columns: ColumnDifference, key: str = "secret-id") -> RowDifference:
    return RowDifference("changed", "update", (("id", Shown(key)),), (), 1, 1, columns)


def column(
    left: str | None, right: str | None, name: str = "email", kind: str = "text"
) -> ColumnDifference:
    return ColumnDifference("after", name, kind, Shown(left), Shown(right))


def comparison(*differences: RowDifference) -> Comparison:
    table = TableComparison(
        "shop.people",
        Counts(left=9, right=9, same=7, changed=len(differences)),
        differences,
        patterns=patterns_of(differences),
    )
    return Comparison(
        "craft:file:a",
        "open-protocol:file:b",
        (table,),
        errors_left=1,
        unreadable=(
            UnreadableMessage(
                "a/x.jsonl:7: byte 3: can't be read (craft: types)",
                "a/x.jsonl:7: byte 3: 'secret-quote' is not a date (in rows[0]; craft: types)",
            ),
        ),
        ddl_differences=(
            DdlDifference("left", "shop.people", Shown("ALTER TABLE p ADD e DEFAULT 'secret-ddl'")),
        ),
    )


FOUND = comparison(
    difference(
        column("secret-old", "secret-new"),
        column("7365637265742d31", "00", "photo", "bytes"),
        ColumnDifference(None, "tx_id", "field", Shown("10"), Shown("11")),
    ),
    RowDifference(
        "only left",
        "insert",
        (),
        (),
        1,
        0,
        (ColumnDifference("after", "email", "text", Shown("secret-old"), ABSENT),),
    ),
)


def html(found: Comparison) -> str:
    pytest.importorskip("jinja2", reason="needs the extra html")
    from cdcwire_conformance.compare.page import html_text

    return re.sub("</?mark>", "", html_text(found))


REPORTS = {"text": text, "json": json_text, "junit": junit_text, "html": html}


@pytest.mark.parametrize("name", REPORTS)
def test_masked_report_has_no_value(name: str) -> None:
    plain, masked = (REPORTS[name](found) for found in (FOUND, MASK.comparison(FOUND)))
    assert [secret for secret in SECRETS if secret not in plain] == []
    assert [secret for secret in SECRETS if secret in masked] == []
    assert "values are masked" in masked or name == "junit"


def test_hash_is_keyed_and_made_of_the_whole_value() -> None:
    digest = hashlib.sha256(b"secret-old").hexdigest()
    expected = hmac.new(KEY, digest.encode(), "sha256").hexdigest()[:16]
    assert MASK.value(Shown("secret-old")) == Shown(expected, length=10, hidden="masked")
    assert Mask(b"another key").value(Shown("secret-old")).text != expected


def test_equal_values_have_equal_hashes_and_others_do_not() -> None:
    (row, alone), (pattern, *_) = (
        MASK.comparison(FOUND).tables[0].differences,
        [each for each in MASK.comparison(FOUND).tables[0].patterns if each.column == "email"],
    )
    old, new = row.columns[0].left, row.columns[0].right
    assert old == alone.columns[0].left == pattern.examples[0].left
    assert old != new


@pytest.mark.parametrize("length", [100, 201, 70_000])
def test_values_that_differ_after_their_shown_part_have_other_hashes(length: int) -> None:
    whole = [Shown("x" * length + end) for end in ("1", "2")]
    cut = [beginning_of(each, 200) for each in whole]
    hashes = [MASK.value(each).text for each in (*whole, *cut)]
    assert hashes[:2] == hashes[2:]
    assert hashes[0] != hashes[1]
    assert {MASK.value(each).length for each in (*whole, *cut)} == {length + 1}


def test_null_absent_and_fields_of_the_event_stay() -> None:
    found = difference(
        ColumnDifference("after", "email", "text", NULL, ABSENT),
        ColumnDifference("before", None, "image", Shown("sent"), ABSENT),
        ColumnDifference(None, "op", "field", Shown("insert"), Shown("update")),
    )
    assert MASK.difference(found).columns == found.columns


def test_mask_does_not_change_verdict_counts_or_patterns() -> None:
    masked = MASK.comparison(FOUND)
    assert masked.is_equal is FOUND.is_equal
    (ours,), (theirs,) = masked.tables, FOUND.tables
    assert ours.counts == theirs.counts
    assert [(p.kind, p.count) for p in ours.patterns] == [
        (p.kind, p.count) for p in theirs.patterns
    ]


def test_masked_text_shows_type_length_and_no_quotes() -> None:
    lines = text(MASK.comparison(FOUND)).splitlines()
    (start,) = [number for number, line in enumerate(lines) if "after.email (text)" in line][:1]
    values = [line.split("  ")[-1].strip() for line in lines[start + 1 : start + 3]]
    assert all(DIGESTED.fullmatch(value) for value in values)
    assert len(set(values)) == 2
    assert [value.rpartition(", ")[2] for value in values] == ["10 characters>"] * 2
    photo = next(number for number, line in enumerate(lines) if "after.photo (bytes)" in line)
    assert lines[photo + 1].endswith(", 8 bytes>")
    assert lines[photo + 2].endswith(", 1 byte>")


def test_a_value_written_like_a_hash_is_shown_in_another_form() -> None:
    hidden = text(MASK.comparison(comparison(difference(column("a", "b"))))).splitlines()
    (token,) = {DIGESTED.search(line)[0] for line in hidden if "left   <" in line}  # type: ignore[index]  # it matches
    shown = text(comparison(difference(column(token, "b"))))
    assert f'left   "{token}"' in shown
    assert f"left   {token}" not in shown
    shown = text(comparison(difference(column("a", "b"), key=token)))
    assert f'id="{token}"' in shown


def test_redacted_column_shows_that_values_differ_and_nothing_else() -> None:
    row = redacted(difference(column("secret-old", "secret-new")), frozenset({"email", "id"}))
    found = comparison(row, redacted(difference(column(None, "")), frozenset({"email"})))
    shown = text(found)
    assert "changed: update id=<redacted>" in shown
    assert "  left   <redacted>\n      right  <redacted>\n      they differ\n" in shown
    assert "  left   NULL\n      right  <redacted>\n" in shown
    patterns = {(each.kind, each.count) for each in found.tables[0].patterns}
    assert patterns == {("value", 1), ("null-value", 1)}
    for name, made in REPORTS.items():
        assert [s for s in SECRETS[1:3] if s in made(found)] == [], name


def test_redacted_values_are_not_masked_again() -> None:
    assert MASK.value(REDACTED) == REDACTED


def test_redaction_leaves_fields_of_the_event_and_other_columns() -> None:
    found = difference(
        ColumnDifference(None, "partition", "field", Shown("1"), Shown("2")),
        column("a", "b", "name"),
    )
    assert redacted(found, frozenset({"partition", "email"})) == found


def test_masked_documents_fit_the_schema() -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="needs the extra check")
    row = redacted(difference(column("secret-old", None)), frozenset({"email"}))
    for found in (MASK.comparison(FOUND), comparison(row)):
        jsonschema.validate(document(found), schema())
    (key,) = document(MASK.comparison(FOUND))["tables"][0]["differences"][0]["key"]
    assert key == {"column": "id", "masked": MASK.value(Shown("secret-id")).text, "length": 9}


def test_error_without_quotes_keeps_its_place() -> None:
    (line,) = without_quotes(FOUND).unreadable
    assert str(line) == "a/x.jsonl:7: byte 3: can't be read (craft: types)"


def test_mask_is_never_printed_with_its_key() -> None:
    assert "thirty" not in repr(replace(MASK))
    assert json.dumps(KEY.decode()) not in json_text(MASK.comparison(FOUND))
