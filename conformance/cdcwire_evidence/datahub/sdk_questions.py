"""What DataHub's SDKs are asked: records to put, records to get, and answers that are broken.

Each question is a topic and its records, written out by hand. Values are texts; what they mean
follows from the type of their column and nothing else. A Tuple question's topic has the six
metadata columns in front of its own.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, TypeAlias

from cdcwire.datahub.fields import Field, FieldType
from cdcwire.datahub.frame import MAGIC, crc32c, write_frame

Direction: TypeAlias = Literal["put", "get"]
RowOp: TypeAlias = Literal["insert", "before", "after", "delete"]
Texts: TypeAlias = "tuple[str | None, ...]"
Damage: TypeAlias = Callable[[bytes], bytes]

ENCODINGS = ("json", "protobuf", "batch")
FRAMED = ("protobuf", "batch")
BOTH: tuple[Direction, ...] = ("put", "get")

TABLE = "t"
SCHEMA = "shop"
TIME = 1649991726000
FIRST_ID = 1649991610688000000
METADATA: tuple[Field, ...] = (
    Field("_sequence_id_", "STRING"),
    Field("_operation_type_", "STRING"),
    Field("_excute_time_", "BIGINT"),
    Field("_source_table_", "STRING"),
    Field("_before_image_", "STRING"),
    Field("_after_image_", "STRING"),
)
_SIGNS: Mapping[RowOp, Texts] = MappingProxyType(
    {
        "insert": ("I", "N", "Y"),
        "before": ("U", "Y", "N"),
        "after": ("U", "N", "Y"),
        "delete": ("D", "Y", "N"),
    }
)
_NO_ATTRIBUTES: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Row:
    """A record. ``data``: the values of a question's own columns, or a blob.

    ``sequence_id`` is that of the change, which an update's two rows share.
    """

    data: Texts | bytes
    attributes: Mapping[str, str] = field(default_factory=lambda: _NO_ATTRIBUTES)
    op: RowOp = "insert"
    sequence_id: int = FIRST_ID
    hash_key: str | None = None
    partition_key: str | None = None

    def all_values(self) -> Texts:
        """Return the values of a tuple with those of the metadata columns."""
        assert not isinstance(self.data, bytes)
        operation, before, after = _SIGNS[self.op]
        front = (str(self.sequence_id), operation, str(TIME), TABLE, before, after)
        return (*front, *self.data)


@dataclass(frozen=True, slots=True)
class Question:
    """One question. ``columns``: None asks for blobs. ``id`` is the last part of a finding's id.

    ``compression``: the setting of the SDK and of an answer's bytes; ``asks_compression``:
    a put's bytes must show it. ``damage``: breaks a good answer, which the SDK must then refuse.
    ``is_message``: the blob is a Blob message, to and from an event.
    """

    id: str
    title: str
    columns: tuple[Field, ...] | None
    rows: tuple[Row, ...]
    directions: tuple[Direction, ...] = BOTH
    encodings: tuple[str, ...] = ENCODINGS
    compression: str = "none"
    asks_compression: bool = False
    damage: Damage | None = None
    is_message: bool = False

    @property
    def fields(self) -> tuple[Field, ...] | None:
        """The fields of the topic."""
        return None if self.columns is None else (*METADATA, *self.columns)


# ---- values of tuples ------------------------------------------------------------------------

_TYPES: tuple[FieldType, ...] = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT")
_INTEGERS = tuple(Field(f"c{index}", type_) for index, type_ in enumerate(_TYPES))


def _one(
    type_: FieldType, *texts: str | None, nullable: bool = True
) -> tuple[tuple[Field, ...], tuple[Row, ...]]:
    """Return one column, and a record for each of its values."""
    return (Field("c", type_, nullable),), tuple(Row((text,)) for text in texts)


def _rows_of(*rows: Texts) -> tuple[Row, ...]:
    return tuple(map(Row, rows))


_LENGTHS = "abcdefghijklmnopq"
_REPEATED = tuple(Row((str(n), "the same words again and again " * 3)) for n in range(50))
_TEXT_AND_NUMBER = (Field("n", "BIGINT"), Field("s", "STRING"))
_WIDE = tuple(Field(f"c{n}", "STRING" if n % 2 else "BIGINT") for n in range(70))


_VALUES = (
    Question(
        "integers",
        "integers, both ends",
        _INTEGERS,
        _rows_of(
            ("-128", "-32768", "-2147483648", "-9223372036854775808"),
            ("127", "32767", "2147483647", "9223372036854775807"),
            ("0", "0", "0", "0"),
            ("-1", "-1", "-1", "-1"),
        ),
    ),
    Question(
        "double",
        "DOUBLE: `-0.0`, `5e-324`, 17 digits",
        *_one(
            "DOUBLE",
            *("0.1", "100.0", "-0.0", "0.0", "1e+300", "5e-324", "1.7976931348623157e+308"),
            *("0.30000000000000004", "9007199254740993.0", "-123456789.123456789"),
        ),
    ),
    Question(
        "float",
        "FLOAT",
        *_one(
            "FLOAT",
            *("1.5", "-0.0", "0.10000000149011612", "16777216.0", "3.4028234663852886e+38"),
            "1.401298464324817e-45",
        ),
    ),
    Question(
        "not-finite",
        "NaN and infinities",
        *_one("DOUBLE", "nan", "inf", "-inf"),
        directions=("put",),
    ),
    Question("boolean", "BOOLEAN", *_one("BOOLEAN", "true", "false")),
    Question(
        "timestamp",
        "TIMESTAMP, both ends",
        *_one(
            "TIMESTAMP", "-62135798400000000", "253402271999000000", "0", "-1", "1590315269123456"
        ),
    ),
    Question(
        "decimal",
        "DECIMAL, 38 digits, small ones, `0.00`",
        *_one(
            "DECIMAL",
            *("12345678901234567890.123456789012345678", "-0.10", "0.0000000001", "0.00", "1000"),
            "99999999999999999999999999999999999999",
        ),
    ),
    Question(
        "decimal-exponent",
        "DECIMAL that is given with an exponent",
        *_one("DECIMAL", "1E+3", "1E-10", "-1.50E+2"),
        directions=("put",),
    ),
    Question(
        "string-lengths",
        "STRING of 1 to 17 bytes",
        *_one("STRING", *(_LENGTHS[:n] for n in range(1, 18))),
    ),
    Question("string-empty", "STRING, empty", *_one("STRING", "", "x", "")),
    Question(
        "string-unicode",
        "STRING beyond ASCII",
        *_one("STRING", "é", "你好", "🎉", "donald #é你好🎉", "e\u0301", "\ufffd", "\U0010ffff"),
    ),
    Question(
        "string-controls",
        "STRING with NUL, quotes, line ends",
        *_one("STRING", "\0", 'a"b\\c', "a\r\n\tb", "\x7f\x1f\u2028", " a "),
    ),
    Question(
        "string-words", "STRING `null`, `None`", *_one("STRING", "null", "None", "NULL", "nan")
    ),
    Question("string-long", "STRING of 70,000 bytes", *_one("STRING", "ab" * 35_000, "é" * 35_000)),
    Question(
        "null-integers",
        "NULL in integers",
        _INTEGERS,
        _rows_of((None,) * 4, ("1", None, "2", None), (None, "3", None, "4")),
    ),
    Question("null-timestamp", "NULL in TIMESTAMP", *_one("TIMESTAMP", None, "0", None)),
    Question("null-double", "NULL in DOUBLE", *_one("DOUBLE", None, "0.0", None)),
    Question("null-float", "NULL in FLOAT", *_one("FLOAT", None, "0.0", None)),
    Question("null-boolean", "NULL in BOOLEAN", *_one("BOOLEAN", None, "false", None)),
    Question("null-decimal", "NULL in DECIMAL", *_one("DECIMAL", None, "0", None)),
    Question("null-string", "NULL in STRING", *_one("STRING", None, "x", None)),
    Question(
        "null-and-empty-string", "NULL next to the empty STRING", *_one("STRING", None, "", None)
    ),
    Question("not-null", "fields that are not null", *_one("STRING", "", "None", nullable=False)),
)

# ---- records ---------------------------------------------------------------------------------

_CHANGES = (
    Row(("1", "new")),
    Row(("1", "new"), op="before", sequence_id=FIRST_ID + 1),
    Row(("1", "newer"), op="after", sequence_id=FIRST_ID + 1),
    Row(("1", "newer"), op="delete", sequence_id=FIRST_ID + 2),
)


def _with(attributes: Mapping[str, str], *behind: str) -> tuple[Row, ...]:
    first = Row(("1", "with attributes"), attributes)
    return (first, *(Row((str(n), text)) for n, text in enumerate(behind, 2)))


_RECORDS = (
    Question("changes", "insert, update, delete", _TEXT_AND_NUMBER, _CHANGES),
    Question(
        "many",
        "1,000 records",
        _TEXT_AND_NUMBER,
        tuple(Row((str(n), f"row {n}"), sequence_id=FIRST_ID + n) for n in range(1000)),
    ),
    Question(
        "wide",
        "76 columns",
        _WIDE,
        _rows_of(tuple(f"{n}" if n % 2 == 0 else f"text {n}" for n in range(70))),
    ),
    Question(
        "attributes",
        "attributes",
        _TEXT_AND_NUMBER,
        _with({"k": "v", "long key of it": "long value of it", "empty": ""}, "behind"),
    ),
    Question(
        "attributes-unicode",
        "attributes beyond ASCII",
        _TEXT_AND_NUMBER,
        _with({"clé": "valeur é", "键": "值🎉"}, "behind", "behind it"),
    ),
    Question(
        "keys",
        "hash key and partition key",
        _TEXT_AND_NUMBER,
        (
            Row(("1", "x"), hash_key="0123456789ABCDEF0123456789ABCDEF"),
            Row(("2", "y"), partition_key="TestPartitionKey"),
        ),
        directions=("put",),
        encodings=("json", "protobuf"),
    ),
    *(
        Question(
            f"compression-{name}",
            f"compression: {name}",
            _TEXT_AND_NUMBER,
            _REPEATED,
            compression=name,
            asks_compression=True,
            encodings=("batch",) if name == "zlib" else ENCODINGS,
        )
        for name in ("none", "deflate", "lz4", "zlib")
    ),
)

# ---- blobs -----------------------------------------------------------------------------------

MESSAGE = (
    '{"schema":{"dataColumn":[{"name":"id","type":"LONG"},{"name":"note","type":"STRING"},'
    '{"name":"at","type":"DATE"}],"source":{"dbName":"shop","dbType":"MySQL","tableName":"t"},'
    '"primaryKey":["id"]},"payload":{"op":"INSERT","after":{"dataColumn":{"id":9007199254740993,'
    '"note":"é🎉","at":1590315269000}},"sequenceId":"1649991610688000000",'
    '"timestamp":{"eventTime":1649991726000}},"version":"0.0.1"}'
).encode()
MESSAGE_AFTER = {"id": "9007199254740993", "note": "é🎉", "at": "1590315269000"}

_BLOBS = (
    Question("blob-message", "Blob: a message", None, (Row(MESSAGE),), is_message=True),
    Question(
        "blob-bytes",
        "Blob: any bytes, of 1 to 17 and 256",
        None,
        tuple(Row(bytes(range(255, 255 - n, -1))) for n in (*range(1, 18), 256)),
    ),
    Question("blob-empty", "Blob: no bytes", None, (Row(b""),)),
    Question("blob-attributes", "Blob: attributes", None, (Row(b"x", {"k": "v"}), Row(b"yy"))),
    Question(
        "blob-compression-lz4",
        "Blob: compression lz4",
        None,
        tuple(Row(MESSAGE) for _ in range(3)),
        compression="lz4",
        asks_compression=True,
    ),
)

# ---- broken answers --------------------------------------------------------------------------

_FRAME_BYTES = 12
_HEAD = struct.Struct("<iIIIHI")  # of a batch, behind its magic
_HEAD_BYTES = 4 + _HEAD.size
_LENGTH_AT, _SUM_AT, _COUNT_AT = 8, 16, 22
_WHOLE = (_LENGTH_AT, _SUM_AT)  # after these the sum is not what it was, and is to stay


def _flip(place: int) -> Damage:
    """Return what turns a bit of a byte, and leaves all sums as they are."""

    def flip(raw: bytes) -> bytes:
        broken = bytearray(raw)
        broken[place] ^= 1
        return bytes(broken)

    return flip


def _replace(old: bytes, new: bytes) -> Damage:
    """Return what puts other bytes of the same length, and makes all sums right again."""
    assert len(old) == len(new)

    def replace(raw: bytes) -> bytes:
        assert old in raw
        if not raw.startswith(MAGIC):
            return raw.replace(old, new)
        return _framed(bytearray(raw[_FRAME_BYTES:].replace(old, new)))

    return replace


def _framed(body: bytearray) -> bytes:
    """Return a frame around a body, with the right sums of the body and of a batch in it."""
    start = body.find(MAGIC)
    if start >= 0:
        (length,) = struct.unpack_from("<I", body, start + _LENGTH_AT)
        records = bytes(body[start + _HEAD_BYTES : start + length])
        struct.pack_into("<I", body, start + _SUM_AT, crc32c(records))
    return write_frame(bytes(body))


def _in_batch(place: int, more: int) -> Damage:
    """Return what adds to a number of 4 bytes in the batch; a sum that it is not stays right."""

    def damage(raw: bytes) -> bytes:
        body = bytearray(raw[_FRAME_BYTES:])
        start = body.index(MAGIC)
        (number,) = struct.unpack_from("<I", body, start + place)
        struct.pack_into("<I", body, start + place, number + more)
        return write_frame(bytes(body)) if place in _WHOLE else _framed(body)

    return damage


_GOOD = (Row(("1", "a text of 17 byte")), Row(("2", "another of those")))
# Behind the batch's head: the record's head (16), number of fields and bitmap (12), 8 slots.
_TEXT_SLOT = _HEAD_BYTES + 16 + 12 + 7 * 8


def _broken(
    id_: str,
    title: str,
    damage: Damage,
    encodings: tuple[str, ...] = FRAMED,
    columns: tuple[Field, ...] = _TEXT_AND_NUMBER,
    rows: tuple[Row, ...] = _GOOD,
) -> Question:
    return Question(id_, title, columns, rows, ("get",), encodings, damage=damage)


_BROKEN = (
    _broken("broken-frame-sum", "a frame's sum that is wrong", _flip(4)),
    _broken("broken-frame-body", "a frame's body that is changed", _flip(-3)),
    _broken("broken-cut", "an answer cut short", lambda raw: raw[:-1], ENCODINGS),
    _broken("broken-trailing", "a byte after the answer", lambda raw: raw + b"\0", FRAMED),
    _broken(
        "broken-batch-sum",
        "a batch's sum that is wrong",
        _in_batch(_SUM_AT, 1),
        ("batch",),
    ),
    _broken(
        "broken-batch-length",
        "a batch's length that is too large",
        _in_batch(_LENGTH_AT, 8),
        ("batch",),
    ),
    _broken(
        "broken-batch-count",
        "a batch's number of records that is too small",
        _in_batch(_COUNT_AT, -1),
        ("batch",),
    ),
    _broken(
        "broken-record-size",
        "a record's size that is too large",
        _in_batch(_HEAD_BYTES + 8, 8),
        ("batch",),
    ),
    _broken(
        "broken-text-length",
        "a text's length beyond its record",
        _in_batch(_TEXT_SLOT, 4096),
        ("batch",),
    ),
    _broken(
        "broken-text-offset",
        "a text's place beyond its record",
        _in_batch(_TEXT_SLOT + 4, 4096),
        ("batch",),
    ),
    _broken(
        "broken-utf-8",
        "text that is not UTF-8",
        _replace(b"a text of", b"\xff text of"),
        ENCODINGS,
    ),
    _broken(
        "broken-tinyint",
        "a TINYINT of 300",
        _replace(b"127", b"300"),
        ("json", "protobuf"),
        *_one("TINYINT", "127"),
    ),
    _broken(
        "broken-boolean",
        "a BOOLEAN that is neither word",
        _replace(b"true", b"yess"),
        ("json", "protobuf"),
        *_one("BOOLEAN", "true"),
    ),
    _broken(
        "broken-timestamp",
        "a TIMESTAMP beyond the year 9999",
        _replace(b"253402271999000000", b"253402300800000000"),
        ("json", "protobuf"),
        *_one("TIMESTAMP", "253402271999000000"),
    ),
)

GROUPS: tuple[tuple[str, tuple[Question, ...]], ...] = (
    ("values", _VALUES),
    ("records", _RECORDS),
    ("blobs", _BLOBS),
    ("refuses", _BROKEN),
)
QUESTIONS: tuple[Question, ...] = tuple(each for _, group in GROUPS for each in group)
