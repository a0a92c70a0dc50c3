"""The options, which the bytes don't say, as values.

Debezium's own settings have dots (``decimal.handling.mode``); here they are dashes, since what
stands before the last dot of an option is taken for the name of its section.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

from cdcwire.connect import SchemasEnable
from cdcwire.connect.style import (
    BinaryMode,
    DecimalMode,
    HstoreMode,
    IntervalMode,
    Style,
    TimeMode,
)
from cdcwire.core.format import Option, OptionValue, parse_options
from cdcwire.formats.debezium_json.message import PLACEHOLDER

Dialect: TypeAlias = Literal["cdl", "debezium-1.4", "debezium-2.7", "debezium-3.2"]
ReplicaIdentity: TypeAlias = Literal["default", "full", "index", "nothing"]
HeartbeatIdentifier: TypeAlias = Literal["omit", "append"]
Lint: TypeAlias = Literal["off", "strict"]

OPTIONS: tuple[Option, ...] = (
    Option(
        "dialect",
        "debezium-1.4",
        "whose way of writing; what is read tells by itself",
        ("cdl", "debezium-1.4", "debezium-2.7", "debezium-3.2"),
    ),
    Option(
        "schemas-enable",
        "auto",
        "whether messages have their schema with them; auto: as each message shows",
        ("auto", "true", "false"),
    ),
    Option(
        "replica-identity",
        "default",
        "of the tables; only with full a delete tells more than its key",
        ("default", "full", "index", "nothing"),
    ),
    Option(
        "replace-null-with-default", False, "a null is its column's default, where there is one"
    ),
    Option(
        "decimal-handling-mode",
        "precise",
        "how decimals are written",
        ("precise", "string", "double"),
    ),
    Option(
        "time-precision-mode",
        "adaptive",
        "how dates and times are written",
        (
            "adaptive",
            "adaptive_time_microseconds",
            "connect",
            "isostring",
            "microseconds",
            "nanoseconds",
        ),
    ),
    Option(
        "binary-handling-mode",
        "bytes",
        "how bytes are written",
        ("bytes", "base64", "base64-url-safe", "hex"),
    ),
    Option(
        "interval-handling-mode",
        "numeric",
        "how intervals in microseconds are written; those that came as text stay text",
        ("numeric", "string"),
    ),
    Option(
        "hstore-handling-mode",
        "map",
        "how maps of text are written; JSON that came stays JSON",
        ("json", "map"),
    ),
    Option(
        "provide-transaction-metadata",
        False,
        "whether begin, end and order of transactions are written, as their ids tell",
    ),
    Option("unavailable-value-placeholder", PLACEHOLDER, "what stands for a value not at hand"),
    Option("topic-prefix", "cdl", "source.name of events that don't tell it"),
    Option("database", "", "source.db of events that don't tell it"),
    Option(
        "name-prefix", "com.xxx", "what stands before .cdc.data in the names of CDL's own types"
    ),
    Option(
        "heartbeat-identifier",
        "omit",
        "whether CDL's messages end in HEARTBEAT_IDENTIFIER",
        ("omit", "append"),
    ),
    Option("read-r-as-c", False, "a row of a snapshot is an insert"),
    Option("lint", "off", "strict: what is passed over otherwise is an error", ("off", "strict")),
)


@dataclass(frozen=True, slots=True)
class Settings:
    """The options, one field each."""

    dialect: Dialect = "debezium-1.4"
    schemas_enable: SchemasEnable = "auto"
    replica_identity: ReplicaIdentity = "default"
    null_is_default: bool = False
    decimals: DecimalMode = "precise"
    times: TimeMode = "adaptive"
    binary: BinaryMode = "bytes"
    intervals: IntervalMode = "numeric"
    maps: HstoreMode = "map"
    has_transaction_metadata: bool = False
    placeholder: str = PLACEHOLDER
    topic_prefix: str = "cdl"
    database: str = ""
    name_prefix: str = "com.xxx"
    heartbeat_identifier: HeartbeatIdentifier = "omit"
    read_r_as_c: bool = False
    lint: Lint = "off"

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
            self.dialect != "debezium-1.4",
        )


DEFAULT_SETTINGS = Settings()


def read_settings(given: Mapping[str, OptionValue]) -> Settings:
    """Return settings from options by name. Raises: OptionError."""
    values = parse_options(OPTIONS, given)
    return Settings(
        cast(Dialect, values["dialect"]),
        cast(SchemasEnable, values["schemas-enable"]),
        cast(ReplicaIdentity, values["replica-identity"]),
        bool(values["replace-null-with-default"]),
        cast(DecimalMode, values["decimal-handling-mode"]),
        cast(TimeMode, values["time-precision-mode"]),
        cast(BinaryMode, values["binary-handling-mode"]),
        cast(IntervalMode, values["interval-handling-mode"]),
        cast(HstoreMode, values["hstore-handling-mode"]),
        bool(values["provide-transaction-metadata"]),
        str(values["unavailable-value-placeholder"]),
        str(values["topic-prefix"]),
        str(values["database"]),
        str(values["name-prefix"]),
        cast(HeartbeatIdentifier, values["heartbeat-identifier"]),
        bool(values["read-r-as-c"]),
        cast(Lint, values["lint"]),
    )
