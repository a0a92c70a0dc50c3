"""The chapters about readers of Debezium that people use: of its JSON, and of its Avro.

Each is run against the golden cases of the format, with what a careful user would do around it;
`docs/debezium-witnesses.md` says what follows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cdcwire_conformance.corpus.case import Case
from cdcwire_evidence.report import avro_readers
from cdcwire_evidence.report.part import Part
from cdcwire_evidence.report.readers import (
    Fits,
    Questions,
    ThirdPartyReader,
    ask_readers,
    clauses_fit,
    first_fitting,
    reader_settings,
)

TITLE = "Readers of Debezium's JSON"
AVRO_TITLE = "Avro libraries on Debezium's messages"
_CONNECT_JAR = "adapters/connect/build/connect-testee.jar"
_FLINK_JAR = "adapters/flink/build/flink-testee.jar"
# One decimal in the corpus is such that JsonConverter does not end with it.
_PATIENCE = 5.0

READERS = (
    ThirdPartyReader(
        "Kafka JsonConverter",
        ("java", "-jar", _CONNECT_JAR),
        "mvn -q -f adapters/connect package",
        "`schemas.enable`; `replace.null.with.default` as the case says; rows, keys and positions "
        "taken from the struct",
        needs=_CONNECT_JAR,
        timeout=_PATIENCE,
    ),
    ThirdPartyReader(
        "Flink debezium-json",
        ("java", "-jar", _FLINK_JAR),
        "mvn -q -f adapters/flink package",
        "`schema-include`; a table for each schema with the plain types of its columns, decimals "
        "as BYTES, counts as BIGINT",
        needs=_FLINK_JAR,
        timeout=_PATIENCE,
    ),
)


# ---- questions -------------------------------------------------------------------------------


def _debezium(*names: str) -> Fits:
    return clauses_fit("debezium-json", *names)


def _connect(*names: str) -> Fits:
    return clauses_fit("connect", *names)


def _has(feature: str) -> Fits:
    return lambda case: feature in case.features


def _has_no_old_row(case: Case) -> bool:
    """Whether an update has no row before."""
    rows = (event for event in case.events or () if event.get("op") == "update")
    return any(event.get("before") is None for event in rows)


# What a reader makes of valid messages; a case counts for the first question that it fits.
VALID: tuple[tuple[str, Fits], ...] = (
    ("messages without schema", _has("schemas off")),
    ("CDL's 2.0", lambda case: case.group == "cdl"),
    ("transactions, heartbeats", lambda c: _has("transaction")(c) or _has("heartbeat")(c)),
    ("logical messages", _has("logical message")),
    ("truncates", _has("truncate")),
    ("values that the producer did not have", _has("unavailable")),
    ("updates without the row before", _has_no_old_row),
    ("rows of a snapshot", _debezium("snapshot")),
    ("deletes, under every REPLICA IDENTITY", _has("tombstone")),
    ("defaults, NULL against default", lambda case: case.group == "defaults"),
    ("NaN, infinities, -0.0; floats", _connect("float values")),
    ("decimals, of any scale", _connect("decimal values")),
    ("dates and times", lambda c: bool({"date", "time", "datetime", "timestamp"} & {*c.features})),
    ("bits and bytes", _connect("bytes values")),
    ("arrays, maps, structs", _connect("array values", "map values", "struct values")),
    ("integers, to 64 bits", _connect("integer values")),
    ("texts, escapes", _connect("strings", "string values")),
    ("schemas, in any order", _connect("schema members", "fields", "schema types", "envelope")),
    ("inserts, updates, reads, keys", lambda case: True),
)
# Whether it notices broken ones.
BROKEN: tuple[tuple[str, Fits], ...] = (
    ("refuses: integers out of range, or no integers", _connect("integer values")),
    ("refuses: floats too large, or no floats", _connect("float values")),
    ("refuses: invalid booleans and texts", _connect("boolean values", "string values")),
    ("refuses: bytes that are not base64", _connect("bytes values")),
    ("refuses: decimals that can't be", _connect("decimal values", "time values")),
    (
        "refuses: invalid arrays, maps, structs",
        _connect("array values", "map values", "struct values"),
    ),
    ("refuses: NULL where a value is required", _connect("null values")),
    ("refuses: invalid JSON, repeated members", _connect("json text", "strings", "envelope")),
    (
        "refuses: bytes that the schema does not describe",
        clauses_fit("avro", "trailing bytes", "varints", "union index"),
    ),
    (
        "refuses: invalid schemas, and values that they rule out",
        lambda case: (
            _connect("schema members", "schema types", "fields", "logical types")(case)
            or clauses_fit("debezium-avro", "schemas", "logical types", "names")(case)
            or clauses_fit("avro", "schema text")(case)
        ),
    ),
    (
        "refuses: operations, rows and members that don't fit",
        _debezium("operation", "images", "members", "source", "message version"),
    ),
)


def question_of(case: Case) -> str | None:
    """Return the question that a case counts for; None if it asks nothing of a reader."""
    if case.expect == "encode" or case.level in ("may", "unspecified"):
        return None
    return first_fitting(case, VALID, BROKEN)


def _questions(format_name: str) -> Questions:
    valid, broken = (tuple(title for title, _ in each) for each in (VALID, BROKEN))
    return Questions(format_name, "messages", valid, broken, question_of)


QUESTIONS = _questions("debezium-json")
AVRO_QUESTIONS = _questions("debezium-avro")


def debezium_readers_part(
    cases: Iterable[Case], quick: bool, readers: Sequence[ThirdPartyReader] = READERS
) -> Part:
    """Ask each reader of Debezium's JSON for the cases, and show what it makes of them."""
    return _part(TITLE, QUESTIONS, cases, quick, readers)


def debezium_avro_readers_part(
    cases: Iterable[Case],
    quick: bool,
    readers: Sequence[ThirdPartyReader] = avro_readers.PYTHON_READERS,
) -> Part:
    """Ask each Avro library for the cases of Debezium's, and show what it makes of them.

    How a registry frames a datum is not asked: it is taken off before the library is called.
    """
    return _part(AVRO_TITLE, AVRO_QUESTIONS, cases, quick, readers)


def _part(
    title: str,
    questions: Questions,
    cases: Iterable[Case],
    quick: bool,
    readers: Sequence[ThirdPartyReader],
) -> Part:
    part = Part(title, f"cdcwire verify {questions.format} --no-derived -- COMMAND")
    asked = questions.of(cases)
    head = (
        f"{len(asked)} golden cases of messages. A cell shows how many cases of a question "
        "give the right result. `docs/debezium-witnesses.md` lists the steps that each reader "
        "needs. **Bold** means all, - not claimed."
    )
    ask_readers(part, questions, asked, readers, head, reader_settings(quick))
    return part
