"""The chapter about Avro libraries: what those that people use make of TiCDC's messages.

Each library of ``adapters/`` is put to the golden cases of ``avro`` that are about records. What a
text says (digits of a decimal, a vector) and the envelope are left out where they are broken: no
library knows of the one, and the other is taken off before it is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cdcwire_conformance.corpus.case import Case
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

TITLE = "Avro libraries on TiCDC's messages"
_COMMAND = "cdcwire verify avro --no-derived -- COMMAND"

_PIP = "pip install -r adapters/python/requirements.txt"
_NPM = "npm ci in adapters/javascript"
_GO = "go build -C adapters/go -o build/ ./..."
_MVN = "mvn -q -f adapters/java package"
_SPARK = "pip install 'pyspark==4.1.*'; mvn -q -f adapters/spark package"
_SPARK_START = 120.0

PYTHON_READERS = (
    ThirdPartyReader(
        "fastavro",
        ("python", "adapters/python/read_fastavro.py"),
        _PIP,
        "`schemaless_reader`, `handle_unicode_errors=surrogateescape`; bytes that are left over "
        "are an error",
    ),
    ThirdPartyReader(
        "avro (Python)",
        ("python", "adapters/python/read_avro.py"),
        _PIP,
        "`DatumReader`; bytes that are left over are an error",
    ),
    ThirdPartyReader(
        "confluent-kafka",
        ("python", "adapters/python/read_confluent_kafka.py"),
        _PIP,
        "`AvroDeserializer` on whole messages, a registry of the request's schemas",
    ),
)
READERS = (
    *PYTHON_READERS,
    ThirdPartyReader(
        "avsc",
        ("node", "adapters/javascript/avsc.js"),
        _NPM,
        "`Type.forSchema`, `fromBuffer`; decimals made of bytes",
    ),
    ThirdPartyReader(
        "avsc, BigInt",
        ("node", "adapters/javascript/avsc.js", "--bigint"),
        _NPM,
        "the same, and a `typeHook` that makes longs BigInt",
    ),
    ThirdPartyReader(
        "hamba/avro",
        ("adapters/go/build/hamba",),
        _GO,
        "`ParseWithCache`, a cache for each schema; MaxByteSliceSize, MaxSliceAllocSize; "
        "bytes that are left over are an error",
        needs="adapters/go/build/hamba",
    ),
    ThirdPartyReader(
        "goavro",
        ("adapters/go/build/goavro",),
        _GO,
        "`NewCodecWithOptions`, EnableStringNull off, `NativeFromBinary`; bytes that are left over "
        "are an error",
        needs="adapters/go/build/goavro",
    ),
    ThirdPartyReader(
        "Apache Avro (Java)",
        ("java", "-jar", "adapters/java/build/avro-testee.jar"),
        _MVN,
        "`setValidateDefaults(false)`, `GenericDatumReader` with `DecimalConversion`, text from "
        "the bytes of `Utf8`; bytes that are left over are an error",
        needs="adapters/java/build/avro-testee.jar",
    ),
    ThirdPartyReader(
        "Spark from_avro",
        ("python", "adapters/spark/read_spark.py"),
        _SPARK,
        "`from_avro` of spark-avro, `mode` FAILFAST, ANSI on",
        timeout=_SPARK_START,
    ),
)


# ---- questions -------------------------------------------------------------------------------


def _clause(*names: str) -> Fits:
    return clauses_fit("avro", *names)


def _value(*names: str) -> Fits:
    is_about = _clause(*names)
    return lambda case: case.group == "values" and is_about(case)


def _is_wide(case: Case) -> bool:
    return "decimal over 38 digits" in case.features


ILL_FORMED_QUESTION = "text that is not UTF-8"
_about_decimals = _clause("decimal values")
_about_old_rows = _clause("before value")

# What a library makes of valid messages; a case counts for the first question that it fits.
VALID: tuple[tuple[str, Fits], ...] = (
    ("envelope of Glue", lambda case: case.options.get("registry") == "glue"),
    ("old rows, of the newer producer", _about_old_rows),
    (ILL_FORMED_QUESTION, lambda case: "ill-formed" in case.name),
    ("defaults in a schema, odd ones too", _clause("default conversion", "null and defaults")),
    ("NULL before or after the other type", _clause("union index")),
    ("decimals as bytes, over 38 digits", lambda case: _is_wide(case) and _about_decimals(case)),
    ("decimals as bytes, to 38 digits", _about_decimals),
    ("decimals as text", _clause("decimal text")),
    ("BIGINT UNSIGNED, as long and as text", _clause("bigint unsigned")),
    ("integers, to 64 bits; YEAR", _clause("integer values", "year values", "varints")),
    ("floats, `-0`, NaN", _clause("float values")),
    ("BIT", _clause("bit values")),
    ("binary columns", _clause("binary values")),
    ("ENUM and SET", _clause("enum and set values", "allowed")),
    ("dates and times", _clause("temporal values")),
    ("JSON and VECTOR", _clause("json values", "vector values")),
    ("texts", _clause("text values", "lengths")),
    ("row checksums", _clause("row checksum")),
    ("fields of the extension", _clause("extension fields")),
    ("names, key and value of one name", _clause("names", "namespace")),
    ("schema texts", _clause("schema text", "json text", "schema limits")),
    ("schemas that change", _clause("registry", "schema evolution", "field order")),
    ("inserts, updates, deletes, keys", lambda case: True),
)
# Whether it notices broken ones.
BROKEN: tuple[tuple[str, Fits], ...] = (
    ("refuses: bytes after the record", _clause("trailing bytes")),
    ("refuses: bytes cut short, lengths that can't be", _clause("lengths")),
    ("refuses: numbers that are too long or too large", _clause("varints")),
    ("refuses: an invalid union index", _clause("union index")),
    ("refuses: a boolean of 2, floats cut short", _clause("binary encoding", "float values")),
    ("refuses: a decimal of no bytes", _about_decimals),
    ("refuses: text that is not UTF-8, in other types", lambda case: "not-utf-8" in case.name),
    ("refuses: invalid schemas", _clause("schema text")),
)


_NOT_FOR_LIBRARIES = frozenset({"ddl", "checkpoint", "foreign types"})


def question_of(case: Case) -> str | None:
    """Return the question that a case counts for; None if it asks nothing of a library."""
    is_choice = case.level == "may" and not _about_old_rows(case)
    if case.expect == "encode" or is_choice:
        return None
    is_internal = case.group in ("internal", "reject-internal")
    if is_internal or not _NOT_FOR_LIBRARIES.isdisjoint(case.features):
        return None
    return first_fitting(case, VALID, BROKEN)


QUESTIONS = Questions(
    "avro",
    "messages",
    tuple(title for title, _ in VALID),
    tuple(title for title, _ in BROKEN),
    question_of,
)


def avro_readers_part(
    cases: Iterable[Case], quick: bool, readers: Sequence[ThirdPartyReader] = READERS
) -> Part:
    """Put each library to the cases, and show what it makes of them."""
    part = Part(TITLE, _COMMAND)
    asked = QUESTIONS.of(cases)
    head = (
        f"{len(asked)} golden cases of records. A cell shows how many cases of a question "
        "give the right result. `docs/avro-readers.md` lists the steps that each library needs. "
        "**Bold** means all, - not claimed. Nearly all cases have a commit "
        "timestamp beyond 2^53. A library that can't read it fails them all; it gets no broken "
        "messages, as it would refuse them for the wrong reason."
    )
    ask_readers(part, QUESTIONS, asked, readers, head, reader_settings(quick))
    return part
