"""Records and their bodies in JSON.

A tuple's ``Data`` is an array of texts, null for NULL; a blob's is its bytes in base64. Unknown
members are ignored, as both SDKs add some.
Source: datahub, "json".
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from cdcwire.core.errors import DecodeError, EncodeError, step
from cdcwire.core.json_strings import read_base64, write_base64
from cdcwire.core.limits import INT64_END, INT64_START
from cdcwire.core.strict_json import (
    JsonArray,
    JsonObject,
    JsonRules,
    JsonValue,
    Member,
    Number,
    json_kind,
    read_json,
)
from cdcwire.datahub.fields import Field, FieldValue, is_unicode
from cdcwire.datahub.message import Attributes, Body, ReadyRecord, Record
from cdcwire.datahub.records import (
    CLAUSE_ATTRIBUTES,
    CLAUSE_RECORDS,
    check_record,
    field_value,
    fields_sent,
    texts_of,
    wrong_count,
)
from cdcwire.model.events import Path

CLAUSE = "datahub: json"
CLAUSE_BASE64 = "datahub: base64"
_RULES = JsonRules(CLAUSE, CLAUSE, "datahub: limits", max_depth=16)
_LARGE_RULES = replace(_RULES, lazy=frozenset({"Records"}))
# Records as JSON values take nine times their bytes. Reading them twice takes a third more time.
LARGE = 1 << 16

_INT64_DIGITS = 19


def rules_for(data: bytes) -> JsonRules:
    """Return the rules for a body: the records of a large one are not kept in memory."""
    return _RULES if len(data) < LARGE else _LARGE_RULES


def json_parts(
    data: bytes, fields: Sequence[Field] | None, *, empty_is_null: bool = False
) -> Iterator[tuple[Path, Record | Body]]:
    """Yield the records of a put request or a get answer, with the paths to their data.

    At the end comes the body without its records. ``fields``: of the topic; None is a blob topic.
    Raises: DecodeError.
    """
    document = read_json(data, rules_for(data))
    if not isinstance(document.value, JsonObject):
        problem = f"a body is an object, not {json_kind(document.value)}"
        raise DecodeError(problem, document.start, CLAUSE)
    members = document.value.by_name
    action = members.get("Action")
    if action is not None and action.value != "pub":
        problem = f"the action {action.value!r:.40} carries no records: pub does"
        raise DecodeError(problem, action.start, CLAUSE, ("Action",))
    listed = members.get("Records")
    if listed is None or not isinstance(listed.value, JsonArray):
        at = document.end - 1 if listed is None else listed.start
        raise DecodeError("Records is an array of records", at, CLAUSE, ("Records",))
    places = listed.value.places
    items = listed.value.items
    for index, item in enumerate(items):
        with step("Records", index):
            record = _read_record(item, places[2 * index], fields, empty_is_null)
        yield ("Records", index, "Data"), record
    count = _integer(members, "RecordCount")
    if count is not None and count != len(items):
        problem = f"the answer announces {count} records and has {len(items)}"
        raise DecodeError(problem, members["RecordCount"].start, CLAUSE, ("RecordCount",))
    body = Body(
        "json",
        (),
        is_answer=action is None,
        next_cursor=_text(members, "NextCursor"),
        record_count=count,
        start_sequence=_integer(members, "StartSeq"),
    )
    yield (), body


def _read_record(
    item: JsonValue, start: int, fields: Sequence[Field] | None, empty_is_null: bool
) -> Record:
    if not isinstance(item, JsonObject):
        raise DecodeError(f"a record is an object, not {json_kind(item)}", start, CLAUSE_RECORDS)
    members = item.by_name
    found = members.get("Data")
    if found is None:
        raise DecodeError("a record without Data", start, CLAUSE_RECORDS, ("Data",))
    with step("Data"):
        values = _read_data(found, fields, empty_is_null=empty_is_null)
    return Record(
        values,
        _attributes(members.get("Attributes")),
        shard_id=_text(members, "ShardId"),
        hash_key=_text(members, "HashKey"),
        partition_key=_text(members, "PartitionKey"),
        cursor=_text(members, "Cursor"),
        next_cursor=_text(members, "NextCursor"),
        sequence=_integer(members, "Sequence"),
        system_time=_integer(members, "SystemTime"),
        offset=found.start,
    )


def _read_data(
    member: Member, fields: Sequence[Field] | None, *, empty_is_null: bool
) -> tuple[FieldValue, ...] | bytes:
    if fields is None:
        if not isinstance(member.value, str):
            problem = f"a blob is text in base64, not {json_kind(member.value)}"
            raise DecodeError(problem, member.start, CLAUSE_RECORDS)
        return read_base64(member.value, member.start, CLAUSE_BASE64)
    if not isinstance(member.value, JsonArray):
        problem = f"a tuple is an array of texts, not {json_kind(member.value)}"
        raise DecodeError(problem, member.start, CLAUSE_RECORDS)
    items = member.value.items
    sent = fields_sent(len(items), fields)
    if sent is None:
        raise DecodeError(wrong_count(len(items), fields), member.start, CLAUSE_RECORDS)
    values = []
    for index, (field, item) in enumerate(zip(sent, items, strict=True)):
        at = member.value.places[2 * index]
        with step(field.name):
            if item is not None and not isinstance(item, str):
                problem = f"a value is text or null, not {json_kind(item)}"
                raise DecodeError(problem, at, CLAUSE)
            raw = None if item is None else item.encode("utf-8")
            values.append(field_value(field, raw, at, empty_is_null=empty_is_null))
    return tuple(values)


def _attributes(member: Member | None) -> Attributes:
    if member is None or member.value is None:
        return ()
    with step("Attributes"):
        if not isinstance(member.value, JsonObject):
            raise DecodeError("attributes are an object", member.start, CLAUSE_ATTRIBUTES)
        found = []
        for each in member.value.members:
            if not isinstance(each.value, str):
                problem = f"an attribute is text, not {json_kind(each.value)}"
                raise DecodeError(problem, each.start, CLAUSE_ATTRIBUTES, (each.name,))
            found.append((each.name, each.value))
    return tuple(found)


def _text(members: Mapping[str, Member], name: str) -> str | None:
    member = members.get(name)
    if member is None or member.value is None:
        return None
    if not isinstance(member.value, str):
        problem = f"text is expected, not {json_kind(member.value)}"
        raise DecodeError(problem, member.start, CLAUSE_RECORDS, (name,))
    return member.value


def _integer(members: Mapping[str, Member], name: str) -> int | None:
    member = members.get(name)
    if member is None or member.value is None:
        return None
    number = member.value
    if isinstance(number, Number) and number.is_integer and number.digits <= _INT64_DIGITS:
        value = int(number.text)
        if INT64_START <= value < INT64_END:
            return value
    raise DecodeError("an integer of 64 bits", member.start, CLAUSE_RECORDS, (name,))


# ---- writing ---------------------------------------------------------------------------------


def write_json_body(body: Body, fields: Sequence[Field] | None) -> bytes:
    """Return a body in JSON, without spaces, non-ASCII as it is. Raises: EncodeError."""
    if not is_unicode(body.next_cursor or ""):
        raise EncodeError("the text has a lone surrogate", CLAUSE, ("NextCursor",))
    records = []
    for index, record in enumerate(body.records()):
        with step("Records", index):
            records.append(_record(record, fields))
    start: dict[str, object] = {"Action": "pub"}
    if body.is_answer:
        start = _present(
            NextCursor=body.next_cursor,
            RecordCount=len(records),
            StartSeq=body.start_sequence,
        )
    text = f'{_text_of(start)[:-1]},"Records":[{",".join(records)}]}}'
    return text.encode("utf-8")


def _text_of(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _record(record: Record, fields: Sequence[Field] | None) -> str:
    if isinstance(record, ReadyRecord):
        return record.text
    check_record(record)
    texts = texts_of(record, fields)
    blob = texts[0]
    written = write_base64(blob) if isinstance(blob, bytes) else texts
    members = _present(
        ShardId=record.shard_id,
        HashKey=record.hash_key,
        PartitionKey=record.partition_key,
        SystemTime=record.system_time,
        Sequence=record.sequence,
        Cursor=record.cursor,
        NextCursor=record.next_cursor,
        Data=written,
        Attributes=dict(record.attributes) or None,
    )
    return _text_of(members)


def _present(**members: object) -> dict[str, object]:
    return {name: value for name, value in members.items() if value is not None}
