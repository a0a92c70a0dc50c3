"""What is changed in messages of Connect's JSON, at spans that were written by hand."""

from __future__ import annotations

from dataclasses import replace

from cdcwire.core.reader import Span
from cdcwire.model.events import Path
from cdcwire_conformance.formats.cdl_json import suite as cdl_json
from cdcwire_conformance.formats.debezium_json import suite as debezium_json
from cdcwire_conformance.mutations import Change, FormatRules

RAW = b'{"schema":{"type":"struct"},"payload":{"after":{"id":1,"v":"x"},"op":"c","source":{}}}'
SPANS = (
    (b"{", (), "connect: envelope", "envelope"),
    (b'"schema":{"type":"struct"', ("schema", "type"), "connect: schema members", "'struct'"),
    (b'},"payload":{', ("payload",), "connect: envelope", "payload"),
    (b'"after":{', ("payload", "after"), "debezium-json: images", "after"),
    (b'"id":1', ("payload", "after", "id"), "connect: integer values", "1 (int32)"),
    (b',"v":"x"', ("payload", "after", "v"), "connect: string values", "'x' (string)"),
    (b"}", ("payload", "after"), "debezium-json: images", "end"),
    (b',"op":"c"', ("payload", "op"), "debezium-json: operation", "'c'"),
    (b',"source":{', ("payload", "source"), "debezium-json: source", "source"),
    (b"}", ("payload", "source"), "debezium-json: source", "end"),
)


def spans(raw: bytes, parts: tuple[tuple[bytes, Path, str, str], ...]) -> list[Span]:
    found = []
    start = 0
    for part, path, clause, text in parts:
        assert raw.startswith(part, start)
        found.append(Span(("value", *path), start, start + len(part), text, clause, "value"))
        start += len(part)
    return found


def by_name(rules: FormatRules, raw: bytes, found: list[Span]) -> dict[str, Change]:
    changes = list(rules.changes(raw, found, {}))
    names = [change.name for change in changes]
    assert len(set(names)) == len(names)
    return dict(zip(names, changes, strict=True))


def test_each_member_is_changed_in_its_own_way() -> None:
    found = by_name(debezium_json.RULES, RAW, spans(RAW, SPANS))
    assert all(change.is_certain for change in found.values())
    assert {name: change.raw for name, change in found.items()} == {
        "quote:54": RAW.replace(b'"v":"x"', b'"v":x'),
        "tag:63=x": RAW.replace(b'"op":"c"', b'"op":"x"'),
        "member:63-1": RAW.replace(b',"op":"c"', b""),
        "member:72-1": RAW.replace(b',"source":{}', b""),
    }


def test_value_of_unknown_type_keeps_its_quotes() -> None:
    untyped = [
        replace(s, clause="connect: struct values") if "after" in s.path else s
        for s in spans(RAW, SPANS)
    ]
    assert not [name for name in by_name(debezium_json.RULES, RAW, untyped) if "quote" in name]


def test_text_that_would_be_null_keeps_its_quotes() -> None:
    raw = b',"v":"null"'
    path = ("payload", "after", "v")
    (span,) = spans(raw, ((raw, path, "connect: string values", "'null' (string)"),))
    assert not by_name(debezium_json.RULES, raw, [span])


def test_digits_keep_their_quotes() -> None:
    raw = b',"v":"1234"'
    path = ("payload", "after", "v")
    (span,) = spans(raw, ((raw, path, "connect: bytes values", "'1234' (bytes)"),))
    assert not by_name(debezium_json.RULES, raw, [span])


def test_logical_message_needs_no_table() -> None:
    raw = b',"source":{"table":""},"message":{}'
    parts: tuple[tuple[bytes, Path, str, str], ...] = (
        (b',"source":{', ("payload", "source"), "debezium-json: source", "source"),
        (b'"table":""', ("payload", "source", "table"), "debezium-json: source", "''"),
        (b"}", ("payload", "source"), "debezium-json: source", "end"),
        (b',"message":{}', ("payload", "message"), "debezium-json: logical messages", "message"),
    )
    found = by_name(debezium_json.RULES, raw, spans(raw, parts))
    assert set(found) == {"member:0-1", "member:22-1"}


def test_first_member_of_a_payload_alone_takes_its_brace_along() -> None:
    raw = b'{"OPERATION":"INSERT"}'
    parts = (
        (b'{"OPERATION":"INSERT"', ("OPERATION",), "cdl-json: operation", "'INSERT'"),
        (b"}", (), "connect: envelope", "end"),
    )
    found = by_name(cdl_json.RULES, raw, spans(raw, parts))
    assert {name: change.raw for name, change in found.items()} == {
        "member:0-1": b"}",
        "tag:0=UPSERT": b'{"OPERATION":"UPSERT"}',
    }


def test_message_may_lose_only_the_white_space_after_it() -> None:
    raw = b'{"a":1} \r\n'
    for rules in (cdl_json.RULES, debezium_json.RULES):
        legal = rules.legal_sizes(raw, [])
        assert [size for size in range(len(raw)) if size in legal] == [7, 8, 9]
