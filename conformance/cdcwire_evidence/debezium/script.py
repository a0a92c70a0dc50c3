"""Statements that change rows in all ways, and the events that they are, written by hand.

``BEFORE`` is done before Debezium looks, and comes as the rows of its snapshot; ``AFTER`` and
``TRANSACTION`` are what it sees happen. ``EVENTS`` has what each table's messages say: the
operation, the row before and after. A value that the producer did not have is UNAVAILABLE; a
tombstone has no rows.
"""

from __future__ import annotations

from typing import TypeAlias

from cdcwire.model.kinds import UNAVAILABLE, Value

Row: TypeAlias = "dict[str, Value]"
ExpectedEvent: TypeAlias = "tuple[str, Row | None, Row | None]"

BEFORE = """\
CREATE TABLE d_default (id int PRIMARY KEY, v text, n int NOT NULL DEFAULT 5,
  flag boolean NOT NULL DEFAULT true, raw bytea NOT NULL DEFAULT '\\x0102');
INSERT INTO d_default VALUES (1, 'snap', 10), (2, NULL, 20);

CREATE TABLE d_full (id int PRIMARY KEY, v text, n numeric(6,2));
ALTER TABLE d_full REPLICA IDENTITY FULL;
INSERT INTO d_full VALUES (1, 'snap', 1.50);

CREATE TABLE d_index (a int NOT NULL, b text NOT NULL, v text);
CREATE UNIQUE INDEX d_index_ab ON d_index (a, b);
ALTER TABLE d_index REPLICA IDENTITY USING INDEX d_index_ab;

CREATE TABLE d_nothing (id int PRIMARY KEY, v text);
ALTER TABLE d_nothing REPLICA IDENTITY NOTHING;

CREATE TABLE d_no_key (a int, v text);
ALTER TABLE d_no_key REPLICA IDENTITY FULL;

CREATE TABLE d_composite (k1 int, k2 varchar(10), k3 numeric(6,2), v text,
  PRIMARY KEY (k3, k1, k2));
ALTER TABLE d_composite REPLICA IDENTITY FULL;

CREATE TABLE d_toast (id int PRIMARY KEY, big text, raw bytea, doc jsonb, words text[], n int);
ALTER TABLE d_toast ALTER big SET STORAGE EXTERNAL, ALTER raw SET STORAGE EXTERNAL,
  ALTER doc SET STORAGE EXTERNAL, ALTER words SET STORAGE EXTERNAL;
CREATE TABLE d_toast_full (id int PRIMARY KEY, big text, n int);
ALTER TABLE d_toast_full ALTER big SET STORAGE EXTERNAL;
ALTER TABLE d_toast_full REPLICA IDENTITY FULL;
CREATE TABLE d_toast_arrays (id int PRIMARY KEY, i int[], l bigint[], u uuid[], days date[],
  b boolean[], pairs hstore, x xml, n int);
ALTER TABLE d_toast_arrays ALTER i SET STORAGE EXTERNAL, ALTER l SET STORAGE EXTERNAL,
  ALTER u SET STORAGE EXTERNAL, ALTER days SET STORAGE EXTERNAL, ALTER b SET STORAGE EXTERNAL,
  ALTER pairs SET STORAGE EXTERNAL, ALTER x SET STORAGE EXTERNAL;

CREATE TABLE "Weird Name-1" ("Id Col" int PRIMARY KEY, "select" text, "a.b" int);
ALTER TABLE "Weird Name-1" REPLICA IDENTITY FULL;
CREATE TABLE d_names (id int PRIMARY KEY, "ä名" text);
CREATE SCHEMA warehouse;
CREATE TABLE warehouse.d_default (id bigint PRIMARY KEY);
CREATE TABLE d_changed (id int PRIMARY KEY, v text);
ALTER TABLE d_changed REPLICA IDENTITY FULL;
CREATE TABLE d_special (id int PRIMARY KEY, a numeric, b numeric(5,2));
ALTER TABLE d_special REPLICA IDENTITY FULL;
"""

AFTER = """\
INSERT INTO d_default (id, v) VALUES (3, 'ins');
UPDATE d_default SET v = 'upd' WHERE id = 1;
UPDATE d_default SET id = 20 WHERE id = 2;
DELETE FROM d_default WHERE id = 3;

INSERT INTO d_full VALUES (2, 'ins', -0.01);
UPDATE d_full SET v = NULL WHERE id = 1;
UPDATE d_full SET id = 3 WHERE id = 1;
DELETE FROM d_full WHERE id = 2;

INSERT INTO d_index VALUES (1, 'x', 'v1');
UPDATE d_index SET v = 'v2' WHERE a = 1;
UPDATE d_index SET a = 2 WHERE a = 1;
DELETE FROM d_index WHERE a = 2;

INSERT INTO d_nothing VALUES (1, 'v1');

INSERT INTO d_no_key VALUES (1, 'v1'), (1, 'v1');
UPDATE d_no_key SET v = 'v2';
DELETE FROM d_no_key WHERE a = 1;

INSERT INTO d_composite VALUES (1, 'k', 1.50, 'v');
UPDATE d_composite SET v = 'w';
UPDATE d_composite SET k2 = 'l';
DELETE FROM d_composite;

INSERT INTO d_toast SELECT 1, repeat('0123456789', 1000), decode(repeat('00ff', 5000), 'hex'),
  jsonb_build_object('a', repeat('x', 9000)), array_agg('word ' || g), 1
  FROM generate_series(1, 2000) g;
UPDATE d_toast SET n = 2;
UPDATE d_toast SET words = '{a}';
INSERT INTO d_toast_full VALUES (1, repeat('0123456789', 1000), 1);
UPDATE d_toast_full SET n = 2;

INSERT INTO d_toast_arrays SELECT 1, array_fill(7, ARRAY[3000]), array_fill(8::bigint, ARRAY[3000]),
  array_fill('123e4567-e89b-12d3-a456-426614174000'::uuid, ARRAY[3000]),
  array_fill(date '1970-01-02', ARRAY[3000]), array_fill(true, ARRAY[3000]),
  hstore('k', repeat('x', 9000)), ('<a>' || repeat('x', 9000) || '</a>')::xml, 1;
UPDATE d_toast_arrays SET n = 2;

INSERT INTO "Weird Name-1" VALUES (1, 'ä', 2);
DELETE FROM "Weird Name-1";
INSERT INTO d_names VALUES (1, 'ä名');
INSERT INTO warehouse.d_default VALUES (9007199254740993);

INSERT INTO d_changed VALUES (1, 'old');
ALTER TABLE d_changed ADD COLUMN extra numeric(8,3) DEFAULT 1.125;
INSERT INTO d_changed VALUES (2, 'two');
ALTER TABLE d_changed RENAME COLUMN v TO w;
UPDATE d_changed SET w = 'new' WHERE id = 1;
ALTER TABLE d_changed DROP COLUMN w, ALTER COLUMN extra TYPE text;
DELETE FROM d_changed WHERE id = 2;

INSERT INTO d_special VALUES (1, 'NaN', 'NaN'), (2, 'Infinity', 0);
TRUNCATE d_full, d_nothing;
"""

_RAW = b"\x01\x02"
_BIG = "0123456789" * 1000
_BYTES = b"\x00\xff" * 5000
_DOC = '{"a": "' + "x" * 9000 + '"}'
_WORDS = tuple(f"word {number}" for number in range(1, 2001))
# Debezium takes the bytes of a column's name for characters, with their sign.
_MANGLED = "".join(chr(0xFF00 | byte) for byte in "ä名".encode())
TOMBSTONE: ExpectedEvent = ("tombstone", None, None)


def _default(key: int, v: str | None, n: int) -> Row:
    return {"id": key, "v": v, "n": n, "flag": True, "raw": _RAW}


def _toast(words: Value, n: int, *, is_update: bool) -> Row:
    if is_update:
        return dict.fromkeys(("big", "raw", "doc"), UNAVAILABLE) | {"id": 1, "words": words, "n": n}
    return {"id": 1, "big": _BIG, "raw": _BYTES, "doc": _DOC, "words": words, "n": n}


EVENTS: dict[str, tuple[ExpectedEvent, ...]] = {
    "public.d_default": (
        ("read", None, _default(1, "snap", 10)),
        ("read", None, _default(2, None, 20)),
        ("insert", None, _default(3, "ins", 5)),
        ("update", None, _default(1, "upd", 10)),
        ("delete", {"id": 2}, None),
        TOMBSTONE,
        ("insert", None, _default(20, None, 20)),
        ("delete", {"id": 3}, None),
        TOMBSTONE,
        ("insert", None, _default(101, "one", 5)),
        ("update", None, _default(101, "three", 5)),
    ),
    "public.d_full": (
        ("read", None, {"id": 1, "v": "snap", "n": "1.50"}),
        ("insert", None, {"id": 2, "v": "ins", "n": "-0.01"}),
        ("update", {"id": 1, "v": "snap", "n": "1.50"}, {"id": 1, "v": None, "n": "1.50"}),
        ("delete", {"id": 1, "v": None, "n": "1.50"}, None),
        TOMBSTONE,
        ("insert", None, {"id": 3, "v": None, "n": "1.50"}),
        ("delete", {"id": 2, "v": "ins", "n": "-0.01"}, None),
        TOMBSTONE,
        ("truncate", None, None),
    ),
    "public.d_index": (
        ("insert", None, {"a": 1, "b": "x", "v": "v1"}),
        ("update", None, {"a": 1, "b": "x", "v": "v2"}),
        ("delete", {"a": 1, "b": "x"}, None),
        TOMBSTONE,
        ("insert", None, {"a": 2, "b": "x", "v": "v2"}),
        ("delete", {"a": 2, "b": "x"}, None),
        TOMBSTONE,
        ("insert", None, {"a": 101, "b": "two", "v": None}),
    ),
    "public.d_nothing": (
        ("insert", None, {"id": 1, "v": "v1"}),
        ("truncate", None, None),
    ),
    "public.d_no_key": (
        *([("insert", None, {"a": 1, "v": "v1"})] * 2),
        *([("update", {"a": 1, "v": "v1"}, {"a": 1, "v": "v2"})] * 2),
        *([("delete", {"a": 1, "v": "v2"}, None), TOMBSTONE] * 2),
    ),
    "public.d_composite": (
        ("insert", None, {"k1": 1, "k2": "k", "k3": "1.50", "v": "v"}),
        (
            "update",
            {"k1": 1, "k2": "k", "k3": "1.50", "v": "v"},
            {"k1": 1, "k2": "k", "k3": "1.50", "v": "w"},
        ),
        ("delete", {"k1": 1, "k2": "k", "k3": "1.50", "v": "w"}, None),
        TOMBSTONE,
        ("insert", None, {"k1": 1, "k2": "l", "k3": "1.50", "v": "w"}),
        ("delete", {"k1": 1, "k2": "l", "k3": "1.50", "v": "w"}, None),
        TOMBSTONE,
    ),
    "public.d_toast": (
        ("insert", None, _toast(_WORDS, 1, is_update=False)),
        ("update", None, _toast(UNAVAILABLE, 2, is_update=True)),
        ("update", None, _toast(("a",), 2, is_update=True)),
    ),
    "public.d_toast_full": (
        ("insert", None, {"id": 1, "big": _BIG, "n": 1}),
        ("update", {"id": 1, "big": _BIG, "n": 1}, {"id": 1, "big": _BIG, "n": 2}),
    ),
    "public.d_toast_arrays": (
        (
            "insert",
            None,
            {
                "id": 1,
                "i": (7,) * 3000,
                "l": (8,) * 3000,
                "u": ("123e4567-e89b-12d3-a456-426614174000",) * 3000,
                "days": (1,) * 3000,
                "b": (True,) * 3000,
                "pairs": (("k", "x" * 9000),),
                "x": f"<a>{'x' * 9000}</a>",
                "n": 1,
            },
        ),
        # Of booleans Debezium does not say that it did not have them.
        (
            "update",
            None,
            dict.fromkeys(("i", "l", "u", "days", "pairs", "x"), UNAVAILABLE)
            | {"id": 1, "b": None, "n": 2},
        ),
    ),
    "public.Weird Name-1": (
        ("insert", None, {"Id Col": 1, "select": "ä", "a.b": 2}),
        ("delete", {"Id Col": 1, "select": "ä", "a.b": 2}, None),
        TOMBSTONE,
    ),
    "public.d_names": (("insert", None, {"id": 1, _MANGLED: "ä名"}),),
    "warehouse.d_default": (("insert", None, {"id": 9007199254740993}),),
    "public.d_changed": (
        ("insert", None, {"id": 1, "v": "old"}),
        ("insert", None, {"id": 2, "v": "two", "extra": "1.125"}),
        (
            "update",
            {"id": 1, "w": "old", "extra": "1.125"},
            {"id": 1, "w": "new", "extra": "1.125"},
        ),
        ("delete", {"id": 2, "extra": "1.125"}, None),
        TOMBSTONE,
    ),
}
# Tables whose deletes tell all of the row, and not the key alone.
FULL = frozenset(
    (
        "public.d_full",
        "public.d_no_key",
        "public.d_composite",
        "public.Weird Name-1",
        "public.d_changed",
    )
)
TRANSACTION = """\
BEGIN;
INSERT INTO d_default (id, v) VALUES (101, 'one');
INSERT INTO d_index VALUES (101, 'two', NULL);
UPDATE d_default SET v = 'three' WHERE id = 101;
SELECT pg_logical_emit_message(true, 'within', 'text ä');
COMMIT;
SELECT pg_logical_emit_message(false, 'without', '\\xff00'::bytea);
SELECT pg_logical_emit_message(true, 'alone', '');
"""
