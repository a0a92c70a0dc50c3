"""The options that the bytes do not show, as values.

Debezium's own settings have dots (``decimal.handling.mode``). Here they have dashes, since the text
before the last dot of an option is taken for the name of its section.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, TypeVar

from cdcwire.connect.settings import ConnectSettings
from cdcwire.connect.style import (
    BinaryMode,
    DecimalMode,
    HstoreMode,
    IntervalMode,
    Style,
    TimeMode,
    UnsignedMode,
)
from cdcwire.core.options import (
    ANY_VALUE,
    JSON_CONVERTER,
    TRANSFORM,
    TRANSFORMS,
    Setting,
    changefeed,
    connector,
    option,
    options_of,
    settings_reader,
    transform,
)
from cdcwire.debezium.connectors import SourceOf
from cdcwire.debezium.message import PLACEHOLDER, ROUTER_FIELD
from cdcwire.mysql.settings import TIDB_EXTENSION, zone_option

Dialect: TypeAlias = Literal[
    "debezium",
    "cdl",
    "debezium-1.4",
    "debezium-1.9",
    "debezium-2.0",
    "debezium-2.6",
    "debezium-2.7",
    "debezium-3.2",
    "debezium-3.5",
    "debezium-3.6",
    "debezium-3.7",
    "ticdc",
]
ReplicaIdentity: TypeAlias = Literal["default", "full", "index", "nothing"]
ConnectorName: TypeAlias = Literal[
    "auto",
    "postgresql",
    "mysql",
    "mariadb",
    "sqlserver",
    "oracle",
    "db2",
    "informix",
    "vitess",
    "ticdc",
]
Transforms: TypeAlias = Literal["none", "unwrap"]
TombstoneMode: TypeAlias = Literal[
    "auto", "tombstone", "drop", "rewrite", "rewrite-with-tombstone", "delete-to-tombstone"
]
Producer: TypeAlias = Literal["debezium", "any"]
KeyConverter: TypeAlias = Literal["json", "string"]
HeartbeatIdentifier: TypeAlias = Literal["omit", "append"]
TO_TOMBSTONE = ("tombstone", "delete-to-tombstone")
Mode = TypeVar("Mode", bound=str)
_SAME = {"true": True, "false": False}


def name_adjustment(what: str, default: Mode) -> Mode:
    """Return the option for the names of schemas, or of fields, that Avro does not allow."""
    return option(
        f"{what}-name-adjustment-mode",
        default,
        f"How names of {what}s become names of Avro; those of fields are undone where they can be.",
        settings=connector(f"{what}.name.adjustment.mode"),
    )


@dataclass(frozen=True, slots=True)
class Settings(ConnectSettings):
    """The options as values."""

    dialect: Dialect = option(
        "dialect",
        "debezium",
        "Producer whose messages are written; debezium: the version that an event names, else 1.4.",
        # Since Debezium 2.0 the name of the source is in topic.prefix.
        settings=connector("topic.prefix", values={ANY_VALUE: "debezium-2.7"}),
    )
    replica_identity: ReplicaIdentity = option(
        "replica-identity",
        "default",
        "REPLICA IDENTITY of the tables; by default a delete shows whether it is full.",
    )
    decimals: DecimalMode = option(
        "decimal-handling-mode",
        "auto",
        "Form of decimals; auto writes precise ones, and reads what each defined value shows.",
        settings=connector("decimal.handling.mode"),
    )
    unsigned: UnsignedMode = option(
        "bigint-unsigned-handling-mode",
        "auto",
        "Form of BIGINT UNSIGNED: long wraps; precise is a decimal, auto one without precision.",
        settings=connector("bigint.unsigned.handling.mode"),
    )
    times: TimeMode = option(
        "time-precision-mode",
        "adaptive",
        "Form of dates and times.",
        settings=connector("time.precision.mode"),
    )
    binary: BinaryMode = option(
        "binary-handling-mode",
        "bytes",
        "Form of bytes.",
        settings=connector("binary.handling.mode"),
    )
    intervals: IntervalMode = option(
        "interval-handling-mode",
        "numeric",
        "Form of intervals in microseconds; intervals read as text stay text.",
        settings=connector("interval.handling.mode"),
    )
    maps: HstoreMode = option(
        "hstore-handling-mode",
        "map",
        "Form of maps of text; maps read as JSON stay JSON.",
        settings=connector("hstore.handling.mode"),
    )
    has_transaction_metadata: bool = option(
        "provide-transaction-metadata",
        False,
        "Write begin, end and order of transactions, from the ids of the events.",
        settings=connector("provide.transaction.metadata"),
    )
    placeholder: str = option(
        "unavailable-value-placeholder",
        PLACEHOLDER,
        "Text in place of an unavailable value.",
        settings=connector("unavailable.value.placeholder"),
    )
    topic_prefix: str = option(
        "topic-prefix",
        "cdl",
        "Source name of events without one.",
        settings=connector("topic.prefix", "database.server.name"),
    )
    database: str = option(
        "database",
        "",
        "Source database of events without one.",
        settings=connector("database.dbname"),
    )
    heartbeat_identifier: HeartbeatIdentifier = option(
        "heartbeat-identifier", "omit", "Write HEARTBEAT_IDENTIFIER at the end of CDL's messages."
    )
    transforms: Transforms = option(
        "transforms",
        "none",
        "Read and write rows by themselves, as ExtractNewRecordState leaves them (unwrap).",
        settings=connector(
            TRANSFORM, values={"io.debezium.transforms.ExtractNewRecordState": "unwrap"}
        ),
    )
    add_fields: str = option(
        "add-fields",
        "",
        "Fields that unwrap added, as add.fields lists them; empty: known ones with the prefix.",
        settings=transform("add.fields"),
    )
    add_fields_prefix: str = option(
        "add-fields-prefix",
        "__",
        "Prefix of the fields that unwrap added.",
        settings=transform("add.fields.prefix"),
    )
    add_headers: str = option(
        "add-headers",
        "",
        "Headers that unwrap added, as add.headers lists them; empty: known ones.",
        settings=transform("add.headers"),
    )
    add_headers_prefix: str = option(
        "add-headers-prefix",
        "__",
        "Prefix of the headers that unwrap added.",
        settings=transform("add.headers.prefix"),
    )
    tombstones: TombstoneMode = option(
        "delete-tombstone-handling-mode",
        "auto",
        "With transforms=unwrap: the form of deletes. With tombstone or delete-to-tombstone, each "
        "tombstone is read as a delete. auto writes tombstones and reads markers.",
        settings=(
            *transform("delete.tombstone.handling.mode"),
            # Before 2.5. The connector's tombstone is dropped there, unless drop.tombstones=false.
            *connector(
                f"{TRANSFORMS}delete.handling.mode",
                values={"drop": "drop", "none": "tombstone", "rewrite": "rewrite"},
            ),
        ),
    )
    producer: Producer = option(
        "producer",
        "debezium",
        "Producer of the envelope; any: one that sends op and a row, with or without source.",
    )
    row_connector: ConnectorName = option(
        "connector",
        "auto",
        "Connector of rows by themselves, and of events, that name none; auto: postgresql, but no "
        "TIME without schema is read whose unit the connector decides.",
    )
    key_converter: KeyConverter = option(
        "key-converter",
        "json",
        "Converter of Kafka keys; keys of StringConverter (string) are kept as text.",
        settings=connector(
            "key.converter",
            values={
                JSON_CONVERTER: "json",
                "org.apache.kafka.connect.storage.StringConverter": "string",
            },
        ),
    )
    key_field_name: str = option(
        "key-field-name",
        ROUTER_FIELD,
        "Field that ByLogicalTableRouter adds to keys; it is not a column.",
        settings=transform("key.field.name"),
    )
    read_r_as_c: bool = option("read-r-as-c", False, "Read a row of a snapshot as an insert.")
    schema_names: str = "none"  # each format has the option, with its own default
    field_names: str = "none"

    @property
    def style(self) -> Style:
        """How columns are written."""
        if self.dialect == "cdl":
            return Style("cdl-2.0", self.name_prefix)
        return Style(
            "debezium",
            self.name_prefix,
            self.decimals,
            self.times,
            self.binary,
            self.intervals,
            self.maps,
            self.placeholder,
            unsigned=self.unsigned,
        )

    @property
    def deletes_are_tombstones(self) -> bool:
        """True if each tombstone is the delete of its key."""
        return self.transforms == "unwrap" and self.tombstones in TO_TOMBSTONE

    @property
    def other_connector(self) -> str:
        """The connector of messages that name none."""
        return "postgresql" if self.row_connector == "auto" else self.row_connector

    def style_of(self, source: SourceOf) -> Style:
        """How a connector writes columns, as far as its version does not matter."""
        if not source.has_decimal_texts:
            return self.style
        unsigned = "string" if self.unsigned == "auto" else self.unsigned
        return replace(self.style, decimals="string", unsigned=unsigned)

    def style_without_schema(self, source: SourceOf | None) -> Style:
        """How columns of a connector are written in messages without schema; None: not known."""
        if source is None:
            return replace(self.style, has_short_times=None)
        return replace(
            self.style_of(source),
            has_short_times=source.has_short_times,
            has_integer_texts=source.has_integer_texts,
        )


@dataclass(frozen=True, slots=True)
class TicdcSettings(Settings):
    """The options as values, with those of TiCDC's protocols."""

    tidb_extension: bool = option(
        "enable-tidb-extension",
        False,
        "With dialect=ticdc: write the types of columns, commit_ts in schemas, and watermarks.",
        settings=TIDB_EXTENSION,
    )
    output_old_value: bool = option(
        "output-old-value",
        True,
        "With dialect=ticdc: write the row before an update.",
        settings=changefeed("sink.debezium.output-old-value"),
    )
    include_start_ts: bool = option(
        "debezium-include-start-ts",
        False,
        "With dialect=ticdc: write start_ts.",
        settings=(
            Setting("changefeed", "sink.debezium.include-start-ts", _SAME),
            Setting("sink-uri", "debezium-include-start-ts"),
        ),
    )
    cluster_id: str = option(
        "cluster-id", "default", "With dialect=ticdc: cluster of events without one."
    )
    time_zone: str | None = option(
        "time-zone",
        "",
        "With dialect=ticdc: time zone of TIMESTAMP values that are written and have none.",
        convert=zone_option,
    )


DEFAULT_SETTINGS = Settings()
OPTIONS = options_of(Settings)
read_settings = settings_reader(Settings)
