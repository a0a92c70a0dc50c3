"""The options that the bytes do not show: Debezium's, and those of TiCDC's protocol."""

from __future__ import annotations

from dataclasses import dataclass

from cdcwire.connect import SchemasEnable
from cdcwire.core.configuration import ANY_VALUE, Setting, changefeed, connector
from cdcwire.core.options import option, options_of, settings_reader
from cdcwire.debezium.settings import Dialect
from cdcwire.debezium.settings import Settings as DebeziumSettings
from cdcwire.mysql.settings import TIDB_EXTENSION

_SAME = {"true": True, "false": False}
_NEGATED = {"true": "false", "false": "true"}


@dataclass(frozen=True, slots=True)
class Settings(DebeziumSettings):
    """The options as values."""

    dialect: Dialect = option(
        "dialect",
        "debezium",
        "Producer whose messages are written; debezium: the version that an event names, else 1.4.",
        # Since Debezium 2.0 the name of the source is in topic.prefix.
        settings=(
            *connector("topic.prefix", values={ANY_VALUE: "debezium-2.7"}),
            *changefeed("sink.protocol", {"debezium": "ticdc"}, is_parameter=True),
        ),
    )
    schemas_enable: SchemasEnable = option(
        "schemas-enable",
        "auto",
        "Expect a schema in every message, or in none. auto: as each message shows.",
        settings=(
            *connector("value.converter.schemas.enable", "key.converter.schemas.enable"),
            *changefeed("sink.debezium-disable-schema", _NEGATED, is_parameter=True),
        ),
    )
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


DEFAULT_SETTINGS = Settings()
OPTIONS = options_of(Settings)
read_settings = settings_reader(Settings)
