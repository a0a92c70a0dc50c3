"""The form of the messages that one version of a connector writes.

Debezium's versions add members, and give versions to schemas. CDL's messages of version 2.0 have a
different shape.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from cdcwire.connect import Schema
from cdcwire.connect.style import InstantDigits, LabelForm, NumberForm, Style
from cdcwire.connect.types import MONEY_SCALE
from cdcwire.core.errors import EncodeError
from cdcwire.debezium.connectors import (
    LATEST,
    POSTGRESQL,
    SourceOf,
    Version,
    source_of,
    version_of,
)
from cdcwire.debezium.names import adjusted_schema_name
from cdcwire.debezium.settings import Settings
from cdcwire.model.events import Extra, Table
from cdcwire.model.kinds import DecimalType

OLDEST: Version = (1, 4)
# The full versions of the dialects: those that were measured, else the first ones. 3.7 has no
# final release yet.
VERSIONS: dict[str, str] = {
    "cdl": "1.4.0.Final",
    "debezium": "1.4.0.Final",
    "debezium-1.4": "1.4.0.Final",
    "debezium-1.9": "1.9.8.Final",
    "debezium-2.0": "2.0.0.Final",
    "debezium-2.6": "2.6.0.Final",
    "debezium-2.7": "2.7.4.Final",
    "debezium-3.2": "3.2.0.Final",
    "debezium-3.5": "3.5.0.Final",
    "debezium-3.6": "3.6.1.Final",
    "debezium-3.7": "3.7.0.Alpha2",
}
# The allowed values of ``snapshot``, by the first version that has them so.
_ALLOWED: tuple[tuple[Version, str], ...] = (
    ((3, 1), "true,first,first_in_data_collection,last_in_data_collection,last,false,incremental"),
    ((1, 6), "true,last,false,incremental"),
    ((1, 0), "true,last,false"),
)
_UNSAFE = re.compile(r"[^A-Za-z0-9_.]")
_UNSAFE_IN_TOPICS = re.compile(r"[^A-Za-z0-9_.-]")


@dataclass(frozen=True, slots=True)
class Shape:
    """The messages of one version of a connector; ``is_cdl``: CDL writes them."""

    source: SourceOf
    version: Version
    is_cdl: bool = False

    @property
    def has_sequence(self) -> bool:
        """True if ``source`` has the member ``sequence``."""
        return self.version >= (1, 5)

    @property
    def has_schema_versions(self) -> bool:
        """True if the schemas of envelopes, transactions and heartbeats have versions."""
        return self.version >= (2, 0)

    @property
    def has_moments(self) -> bool:
        """True if times are also in microseconds and nanoseconds."""
        return self.version >= (2, 6)

    @property
    def has_block_first(self) -> bool:
        """True if ``transaction`` is before ``op``."""
        return self.version >= (2, 7)

    @property
    def envelope_version(self) -> int | None:
        """The version of the schema of an envelope."""
        if not self.has_schema_versions:
            return None
        return 2 if self.has_moments else 1

    @property
    def source_version(self) -> int | None:
        """The version of the schema of ``source``."""
        return 1 if self.version >= (3, 1) else None

    @property
    def allowed_snapshots(self) -> str:
        """The values of ``snapshot`` that its schema lists."""
        return next(allowed for since, allowed in _ALLOWED if self.version >= since)

    def name_of(self, server: str, table: Table) -> str:
        """Return the names of server, schema and table, which begin the names of schemas."""
        since = self.source.long_names_since
        database = table.database if since is not None and self.version >= since else None
        parts = (part for part in (server, database, table.schema, table.name) if part)
        return ".".join(parts)

    def safe_name(self, *parts: str) -> str:
        """Return a schema's name, with ``_`` for characters that names don't have.

        Later versions allow in it what a topic's name may have.
        """
        unsafe = _UNSAFE_IN_TOPICS if self.has_schema_versions else _UNSAFE
        return unsafe.sub("_", ".".join(parts))

    def style_of(self, settings: Settings, *, is_snapshot: bool = False) -> Style:
        """Return how columns are written; ``is_snapshot``: in a row that a snapshot read."""
        if self.is_cdl:
            return settings.style
        has_schemas = settings.schemas_enable != "false"
        style = settings.style_of(self.source)
        return replace(
            style,
            placeholder=settings.placeholder if self.source.has_placeholder else "",
            with_defaults=self.version >= self.source.defaults_since,
            precise_kind=self._precise_kind(style),
            has_whole_bits=self.source is not POSTGRESQL,
            # With a schema, milliseconds would only be less: they don't hold MySQL's longest times.
            has_short_times=self.source.has_short_times and not has_schemas,
            # The definition that reads such a message again undoes the wrap.
            unsigned="as sent" if not has_schemas and style.unsigned == "auto" else style.unsigned,
            labels=self._labels(is_snapshot=is_snapshot),
            numbers=self._numbers(),
            has_plain_json=self.source.has_plain_json,
            instant_digits=self._instant_digits(),
            has_exponents=self.version < (1, 9),
        )

    def _precise_kind(self, style: Style) -> DecimalType | None:
        if self.source is POSTGRESQL and self.version < (1, 5):
            return DecimalType(None, MONEY_SCALE)
        if self.source.has_decimal_texts:
            return DecimalType(None, 0)
        is_unsigned = self.source.has_tinyint and style.unsigned == "precise"
        return DecimalType(20, 0) if is_unsigned else None

    def _instant_digits(self) -> InstantDigits:
        if not self.source.has_tinyint or (2, 0) <= self.version < (2, 7):
            return "as sent"
        return "padded" if self.has_block_first else "cut"

    def _numbers(self) -> NumberForm:
        if not self.source.has_tinyint:
            return "exact"
        if self.version >= (3, 7):
            return "tiny"
        return "wide" if self.has_schema_versions else "widest"

    def _labels(self, *, is_snapshot: bool) -> LabelForm:
        if not self.source.escapes_labels:
            return "least"
        return "listed" if is_snapshot or self.version >= (3, 7) else "sent"


OLDEST_SHAPE = Shape(POSTGRESQL, OLDEST)


def shape_of(extra: Extra, settings: Settings) -> Shape:
    """Return the shape of the message of an event. Raises: EncodeError."""
    connector, version = extra.get("connector"), extra.get("connector_version")
    return _shape(
        connector if isinstance(connector, str) and connector else settings.other_connector,
        version if isinstance(version, str) else "",
        settings.dialect,
    )


def names_of(table: Table, settings: Settings, extra: Extra) -> str:
    """Return the names of source, schema and table, which begin the names of schemas.

    ``schema_name`` in ``extra`` has others: those of a topic that ByLogicalTableRouter chose.
    Raises: EncodeError.
    """
    named, server = extra.get("schema_name"), extra.get("source_name")
    if isinstance(named, str) and named:
        return named
    server = server if isinstance(server, str) and server else settings.topic_prefix
    if not table.database and settings.database:
        table = replace(table, database=settings.database)
    return shape_of(extra, settings).name_of(server, table)


def other_schema_name(row: Schema, table: Table, extra: Extra, settings: Settings) -> str | None:
    """Return the name of a row's schema without its last word; None if ``names_of`` gives it."""
    name, _, last = (row.name or "").rpartition(".")
    if last != "Value" or not name or settings.schema_names == "avro_unicode":
        return None
    try:
        usual = shape_of(extra, settings).safe_name(names_of(table, settings, extra))
    except EncodeError:
        return None  # of a connector that is not written
    adjusted = (
        adjusted_schema_name(usual, settings.schema_names, each_part=p) for p in (False, True)
    )
    return None if name == usual or name in adjusted else name


def dialect_of(version: str) -> str | None:
    """Return the newest dialect that a version is not older than; None for other texts."""
    number = version_of(version)
    known = [name for name in VERSIONS if version_of(VERSIONS[name]) <= number and "-" in name]
    return known[-1] if known and number != LATEST else None


def shape_without_source(settings: Settings) -> Shape:
    """Return the shape of a message without ``source``: a heartbeat, the end of a transaction."""
    return _shape(settings.other_connector, "", settings.dialect)


@lru_cache(maxsize=256)
def _shape(connector: str, version: str, dialect: str) -> Shape:
    source = source_of(connector)
    if dialect == "cdl":
        if not _has_members_of_cdl(source):
            problem = f"CDL has no messages of the connector {connector!r:.40}"
            raise EncodeError(problem, "debezium-json: connectors", ("extra", "connector"))
        return Shape(POSTGRESQL, OLDEST, True)
    if not source.is_written:
        problem = f"messages of the connector {connector!r:.40} are read, not written"
        raise EncodeError(problem, "debezium-json: connectors", ("extra", "connector"))
    if dialect != "debezium":
        version = VERSIONS[dialect]
    found = version_of(version)
    return Shape(source, OLDEST if found == LATEST else max(found, OLDEST))


def _has_members_of_cdl(source: SourceOf) -> bool:
    """Return whether a reader of a connector takes the source of CDL, which is PostgreSQL's."""
    types = {member.name: member.type for member in POSTGRESQL.members}
    return not source.is_known or (
        source.schema_member != "keyspace"
        and all(types.get(member.name, member.type) == member.type for member in source.members)
    )
