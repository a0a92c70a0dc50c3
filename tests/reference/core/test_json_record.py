"""A class declares an object: the same fields read it, write it and explain it."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest

from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.core.explanation import Spans
from cdcwire.core.json_record import (
    FLAG,
    JsonForms,
    Unknown,
    array_of,
    extra,
    member,
    nested,
    part,
    record_of,
    unknown_members,
)
from cdcwire.core.strict_json import JsonObject, JsonRules, read_json

RULES = JsonRules("page: text", "page: strings", "page: limits", max_name_bytes=8)
FORMS = JsonForms(RULES)
BYTE = FORMS.integer(0, 256)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A nested object."""

    file: str = member(FORMS.text, "page: places")
    row: int = member(BYTE, "page: places", default=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """An object with a member of each kind."""

    name: str = member(FORMS.name, "page: names", part("table"))
    at: Place | None = member(nested(Place), "page: places", default=None)
    gtid: str | None = member(
        FORMS.text, "page: gtid", extra("gtid"), default=None, null="gtid_is_null"
    )
    gtid_is_null: bool = False
    done: bool = member(FLAG, "page: done", name="isDone", default=False, null="", always=True)
    more: Unknown = unknown_members("page: more")
    keys: tuple[str, ...] | None = member(
        array_of(FORMS.text, unique=True), "page: keys", default=None, null="", always=True
    )
    ms: int = member(FORMS.integer(0, 1 << 63, int), "page: times", default=0)


NOTE = record_of(Note)


def read(text: str) -> Note:
    """Return the note in a JSON text."""
    document = read_json(text.encode(), RULES)
    assert isinstance(document.value, JsonObject)
    return Note(**NOTE.read(document.value, document.end, text.encode()))


def written(note: Note) -> str:
    """Return the JSON of a note."""
    return "{" + ",".join(f'"{k}":{v}' for k, v in NOTE.write(note, json.dumps).items()) + "}"


def test_members_come_in_any_order_and_are_written_in_that_of_the_fields() -> None:
    note = read(
        '{"ms":7,"keys":["a"],"new":[1, 2],"gtid":null,"at":{"row":3,"file":"f"},"name":"n"}'
    )
    assert note == Note(
        name="n",
        at=Place(file="f", row=3),
        gtid_is_null=True,
        more=(("new", "[1, 2]"),),
        keys=("a",),
        ms=7,
    )
    assert written(note) == (
        '{"name":"n","at":{"file":"f","row":3},"gtid":null,"isDone":false,"new":[1, 2],'
        '"keys":["a"],"ms":7}'
    )


def test_a_null_that_means_no_member_is_written_where_it_is_never_left_out() -> None:
    note = read('{"name":"n","keys":null,"isDone":null}')
    assert note == Note(name="n")
    assert written(note) == '{"name":"n","isDone":false,"keys":null}'


@pytest.mark.parametrize(
    ("text", "offset", "path", "clause"),
    [
        ('{"ms":1}', 7, ("name",), "page: names"),
        ('{"name":1}', 8, ("name",), "page: names"),
        ('{"name":"123456789"}', 8, ("name",), "page: limits"),
        ('{"name":"n","at":{}}', 18, ("at", "file"), "page: places"),
        ('{"name":"n","at":null}', 17, ("at",), "page: places"),
        ('{"name":"n","at":{"file":"f","row":256}}', 35, ("at", "row"), "page: places"),
        ('{"name":"n","keys":["a",1]}', 24, ("keys", 1), "page: keys"),
        ('{"name":"n","keys":["a","a"]}', 19, ("keys",), "page: keys"),
        ('{"name":"n","ms":1.0}', 17, ("ms",), "page: times"),
        ('{"name":"n","ms":123456789012345678901}', 17, ("ms",), "page: limits"),
        ('{"name":"n","isDone":0}', 21, ("isDone",), "page: done"),
    ],
)
def test_a_wrong_member_names_its_byte_path_and_clause(
    text: str, offset: int, path: tuple[str | int, ...], clause: str
) -> None:
    with pytest.raises(DecodeError) as caught:
        read(text)
    assert (caught.value.offset, caught.value.path, caught.value.clause) == (offset, path, clause)


@pytest.mark.parametrize(
    ("note", "path", "clause"),
    [
        (Note(name="\ud800"), ("name",), "page: strings"),
        (Note(name="123456789"), ("name",), "page: limits"),
        (Note(name="n", at=Place(file="f", row=256)), ("at", "row"), "page: places"),
        (Note(name="n", keys=("a", "a")), ("keys",), "page: keys"),
        (Note(name="n", keys=("a", "\ud800")), ("keys", 1), "page: strings"),
        (Note(name="n", more=(("isDone", "1"),)), ("isDone",), "page: more"),
        (Note(name="n", more=(("x", "1"), ("x", "2"))), ("x",), "page: more"),
        (Note(name="n", ms=True), ("ms",), "page: times"),
    ],
)
def test_a_value_without_form_names_its_path_and_clause(
    note: Note, path: tuple[str | int, ...], clause: str
) -> None:
    with pytest.raises(EncodeError) as caught:
        written(note)
    assert (caught.value.path, caught.value.clause) == (path, clause)


@dataclass(frozen=True, slots=True, kw_only=True)
class Versioned:
    """An object with a member that has a default, and is always there."""

    version: int = member(BYTE, "page: versions", default=1, required=True)
    row: int = member(BYTE, "page: places", default=0)


def test_required_member_with_a_default_is_written_and_may_not_be_missing() -> None:
    record = record_of(Versioned)
    assert record.required == {"version"}
    assert record.write(Versioned(), json.dumps) == {"version": "1"}
    found = read_json(b'{"row":2}', RULES).value
    assert isinstance(found, JsonObject)
    with pytest.raises(DecodeError) as caught:
        record.read(found, 9, b'{"row":2}')
    assert (caught.value.offset, caught.value.path) == (8, ("version",))


def test_other_members_have_the_clause_of_the_record() -> None:
    text = b'{"row":2,"new":1}'
    found = read_json(text, RULES).value
    assert isinstance(found, JsonObject)
    spans = Spans(text)
    for given in found.members:
        record_of(Versioned, "page: unknown").add(spans, given)
    assert [span.clause for span in spans.spans] == ["page: places", "page: unknown"]


def test_spans_have_the_clause_and_the_subject_of_the_field() -> None:
    text = b'{"name":"n","ms":1000,"new":1}'
    found = read_json(text, RULES).value
    assert isinstance(found, JsonObject)
    spans = Spans(text)
    for given in found.members:
        NOTE.add(spans, given)
    assert [(span.path, span.text, span.clause, span.note) for span in spans.spans] == [
        (("name",), "'n'", "page: names", ""),
        (("ms",), "1000 (1970-01-01 00:00:01.000+00:00)", "page: times", ""),
        (("new",), "1", "page: more", "unknown, ignored"),
    ]
    assert [span.subject for span in spans.spans] == [part("table"), None, None]
