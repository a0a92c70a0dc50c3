"""Debezium's connectors, and others that write its envelope, each as one declaration.

A declaration has the members of ``source`` that all connectors do not share, in the order in which
they are written. It says since which version a member is written, and where the model keeps it: in
the position, or in ``extra``. It says which rows a delete has, and which member is the model's
schema. A connector without a declaration is read by ``GENERAL``, which takes nothing for granted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from types import MappingProxyType
from typing import Literal, TypeAlias

from cdcwire.connect import ConnectType
from cdcwire.model.events import POSITION_MEMBERS

Version: TypeAlias = tuple[int, int]
TransactionPlace: TypeAlias = Literal["tx_id", "gtid", "commit_lsn"]
SchemaMember: TypeAlias = Literal["db", "schema", "keyspace"]
_VERSION = re.compile(r"(\d{1,4})\.(\d{1,4})(?:\.|$)", re.ASCII)
LATEST: Version = (9, 9)
TEXT_PLACES = frozenset(
    ("tx_id", "file", "gtid", "commit_lsn", "change_lsn", "commit_scn", "scn", "rs_id")
)
"""Fields of the position that are texts."""


@dataclass(frozen=True, slots=True)
class Member:
    """A member of ``source``. ``place``: a field of the position, else a name in ``extra``.

    ``place`` is ``""`` for the names of the table. ``since`` and ``until`` are the first and the
    last version that writes the member. ``missing``: what is written where an event has no value.
    ``is_unsigned``: an integer may be from 2^63 on, though its schema is int64.
    """

    name: str
    type: ConnectType
    place: str = ""
    optional: bool = True
    since: Version = (1, 0)
    until: Version = LATEST
    missing: int | None = None
    is_unsigned: bool = False

    @property
    def in_position(self) -> bool:
        """True if it is a field of the position."""
        return self.place in POSITION_MEMBERS


@dataclass(frozen=True, slots=True)
class SourceOf:
    """The messages of one connector.

    ``name`` is ``source.connector``. ``package``: of its schemas' names. ``schema_member``: the
    member that is the model's schema; ``has_database``: ``db`` is a level above it. ``whole_rows``:
    a delete has all columns, whatever the table's settings are. ``is_known``: it has a declaration.
    ``has_undeclared``: a payload may have members that its schema lacks. ``is_written``: the
    encoder writes it. ``has_placeholder``: a value may be one that the producer did not have.
    ``escapes_labels``: each backslash of a label has one before it, and rows of the log have their
    labels so before 3.7. ``defaults_since``: the first version that writes the defaults of columns.
    ``long_names_since``: the first version whose schemas and topics have the database in their
    names. ``counts_by_database``: the borders of transactions have it in the names of tables.
    ``transaction_place``: the field of the position that all changes of a transaction share.
    ``has_tinyint``: its integers of 8 bits are int16 before 3.7, and its floats doubles before 2.0.
    Its instants have the digits of the column since 2.7, and no zeros at the end before 2.0.
    ``has_plain_json``: JSON is a text.
    ``has_statements``: it has a topic of schema changes.
    ``has_mysql_instants``: it sent instants as MySQL's text before 3.6.
    ``has_decimal_texts``: decimals are texts in every ``decimal.handling.mode``, and so are
    unsigned integers of 64 bits, unless their mode is another.
    ``has_integer_texts``: since 3.3 most integers follow ``decimal.handling.mode`` as decimals do.
    ``has_short_times``: times of up to three digits after the second are in milliseconds.
    """

    name: str
    package: str
    members: tuple[Member, ...]
    schema_member: SchemaMember = "schema"
    has_database: bool = True
    whole_rows: bool = True
    is_known: bool = True
    has_undeclared: bool = False
    is_written: bool = True
    has_placeholder: bool = True
    escapes_labels: bool = False
    defaults_since: Version = (1, 0)
    long_names_since: Version | None = None
    counts_by_database: bool = False
    transaction_place: TransactionPlace = "tx_id"
    has_statements: bool = True
    has_tinyint: bool = False
    has_plain_json: bool = False
    has_decimal_texts: bool = False
    has_integer_texts: bool = False
    has_short_times: bool = False
    has_mysql_instants: bool = False

    def members_of(self, version: Version) -> tuple[Member, ...]:
        """Return the members that a version writes, in order."""
        return tuple(each for each in self.members if each.since <= version <= each.until)


def _name(
    name: str, *, optional: bool = False, since: Version = (1, 0), until: Version = LATEST
) -> Member:
    return Member(name, "string", "", optional, since, until)


_SCHEMA_AND_TABLE = (_name("schema"), _name("table"))
_BINLOG = (
    _name("table", optional=True),
    Member("server_id", "int64", "server_id", False, missing=0),
    Member("gtid", "string", "gtid"),
    Member("file", "string", "file", False),
    Member("pos", "int64", "pos", False),
    Member("row", "int32", "row", False, missing=0),
    Member("thread", "int64", "thread"),
    Member("query", "string", "query"),
)
POSTGRESQL = SourceOf(
    "postgresql",
    "postgresql",
    (
        *_SCHEMA_AND_TABLE,
        Member("txId", "int64", "tx_id"),
        Member("lsn", "int64", "lsn"),
        Member("xmin", "int64", "xmin"),
        Member("origin", "string", "origin", since=(3, 5)),
        Member("origin_lsn", "int64", "origin_lsn", since=(3, 5)),
    ),
    whole_rows=False,  # REPLICA IDENTITY decides
    defaults_since=(1, 5),
    has_statements=False,
    has_short_times=True,
)
MYSQL = SourceOf(
    "mysql",
    "mysql",
    _BINLOG,
    "db",
    has_database=False,
    has_placeholder=False,  # a binlog has every value: the same word is ordinary text there
    escapes_labels=True,
    transaction_place="gtid",
    has_tinyint=True,
)
MARIADB = replace(MYSQL, name="mariadb", package="mariadb", has_plain_json=True)
SQLSERVER = SourceOf(
    "sqlserver",
    "sqlserver",
    (
        *_SCHEMA_AND_TABLE,
        Member("change_lsn", "string", "change_lsn"),
        Member("commit_lsn", "string", "commit_lsn"),
        Member("event_serial_no", "int64", "event_serial_no"),
    ),
    long_names_since=(2, 0),
    counts_by_database=True,
    transaction_place="commit_lsn",
    has_short_times=True,
)
ORACLE = SourceOf(
    "oracle",
    "oracle",
    (
        *_SCHEMA_AND_TABLE,
        Member("txId", "string", "tx_id"),
        Member("scn", "int64", "scn", until=(1, 4)),
        Member("scn", "string", "scn", since=(1, 5)),
        Member("commit_scn", "string", "commit_scn", since=(1, 5)),
        Member("lcr_position", "string", "lcr_position"),
        Member("rs_id", "string", "rs_id", since=(2, 0)),
        Member("ssn", "int32", "ssn", since=(2, 0), until=(2, 1), missing=0),
        Member("ssn", "int64", "ssn", since=(2, 2), missing=0),
        Member("redo_thread", "int32", "redo_thread", since=(2, 0)),
        Member("user_name", "string", "user_name", since=(2, 0)),
        Member("redo_sql", "string", "redo_sql", since=(2, 6)),
        Member("row_id", "string", "row_id", since=(2, 7)),
        Member("commit_ts_ms", "int64", "commit_ts_ms", since=(3, 1)),
        Member("start_scn", "string", "start_scn", since=(3, 1)),
        Member("start_ts_ms", "int64", "start_ts_ms", since=(3, 1)),
        Member("txSeq", "int64", "tx_seq", since=(3, 2)),
    ),
    counts_by_database=True,
    has_integer_texts=True,
)
DB2 = SourceOf(
    "db2",
    "db2",
    (
        *_SCHEMA_AND_TABLE,
        Member("change_lsn", "string", "change_lsn"),
        Member("commit_lsn", "string", "commit_lsn"),
        # The documents show it, the connector's code has none: it is read, never written.
        Member("event_serial_no", "int64", "event_serial_no", since=LATEST, until=(0, 0)),
    ),
    transaction_place="commit_lsn",
    has_short_times=True,
)
INFORMIX = SourceOf(
    "informix",
    "informix",
    (
        *_SCHEMA_AND_TABLE,
        Member("commit_lsn", "string", "commit_lsn"),
        Member("change_lsn", "string", "change_lsn"),
        Member("txId", "string", "tx_id"),
        Member("begin_lsn", "string", "begin_lsn"),
    ),
    has_short_times=True,
)
VITESS = SourceOf(
    "vitess",
    "vitess",
    (
        _name("schema", until=(1, 7)),
        _name("keyspace", since=(1, 8)),
        _name("table"),
        Member("shard", "string", "shard", False, since=(2, 4)),
        Member("vgtid", "string", "vgtid", False),
    ),
    "keyspace",
    has_database=False,
    has_mysql_instants=True,
    has_decimal_texts=True,
)
TICDC = SourceOf(
    "ticdc",
    "mysql",  # its schemas have the names of the MySQL connector's
    (
        # Its values of these members are constants.
        *(replace(member, place="") for member in _BINLOG),
        # They are in the payload also where the schema does not have them.
        Member("commit_ts", "int64", "commit_ts", False, is_unsigned=True),
        Member("start_ts", "int64", "start_ts", is_unsigned=True),
        Member("cluster_id", "string", "cluster_id", False),
    ),
    "db",
    has_database=False,
    has_undeclared=True,
    is_written=False,
)

CONNECTORS = MappingProxyType(
    {
        each.name: each
        for each in (
            *(POSTGRESQL, MYSQL, MARIADB, SQLSERVER, ORACLE),
            *(DB2, INFORMIX, VITESS, TICDC),
        )
    }
)
_LIKE_POSTGRESQL = ("opengauss", "drs-opengauss-json")  # CDL's sources


def _general_members() -> tuple[Member, ...]:
    """Return one member per name that any connector has; a number may be text.

    TiCDC declares the members of a binlog only because it writes them: they mean nothing there.
    """
    members = [each for source in CONNECTORS.values() for each in source.members]
    members.sort(key=lambda member: bool(member.place))  # stable: those with a place replace others
    return tuple({each.name: each for each in members}.values())


GENERAL = SourceOf("", "", _general_members(), is_known=False, is_written=False)
"""Reads a connector without a declaration: by the names of members, with a warning."""
OTHERS = replace(GENERAL, is_known=True)
"""Reads a producer that is not Debezium, and does not say its connector."""


@cache
def source_of(connector: str) -> SourceOf:
    """Return the declaration of a connector, in any case of letters; ``GENERAL`` if none has it.

    No connector at all is a producer that is not Debezium.
    """
    if not connector:
        return OTHERS
    name = connector.lower()
    if name in _LIKE_POSTGRESQL:
        return POSTGRESQL
    return CONNECTORS.get(name, GENERAL)


def version_of(text: str) -> Version:
    """Return the major and minor version in a text; the latest if it is not a version."""
    found = _VERSION.match(text)
    return LATEST if found is None else (int(found[1]), int(found[2]))
