"""The options that the bytes do not show: Debezium's, and those of its converter to Avro."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from cdcwire.connect import SchemasEnable
from cdcwire.core.options import (
    ANY_VALUE,
    changefeed,
    connector,
    option,
    options_of,
    settings_reader,
)
from cdcwire.debezium.settings import (
    HeartbeatIdentifier,
    KeyConverter,
    TicdcSettings,
    name_adjustment,
)

Framing: TypeAlias = Literal["confluent", "apicurio", "apicurio-headers", "glue"]
NameAdjustment: TypeAlias = Literal["none", "avro", "avro_unicode"]
Dialect: TypeAlias = Literal[
    "debezium",
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
DecimalHandling: TypeAlias = Literal["precise", "string"]
BigintUnsignedHandling: TypeAlias = Literal["long", "string"]
_CODEC = "sink.kafka-config.codec-config"


@dataclass(frozen=True, slots=True)
class Settings(TicdcSettings):
    """The options as values. Those of JsonConverter and of CDL are fixed here."""

    dialect: Dialect = option(
        "dialect",
        "debezium",
        "Version whose messages are written; debezium: the one that an event names, else 1.4.",
        settings=(
            *connector("topic.prefix", values={ANY_VALUE: "debezium-2.7"}),
            *changefeed("sink.protocol", {"debezium-avro": "ticdc"}, is_parameter=True),
        ),
    )
    framing: Framing = option(
        "registry",
        "confluent",
        "Registry whose converter wrote the id: 4 bytes (confluent), 8 bytes (apicurio), a header "
        "(apicurio-headers), or the header of AWS Glue (glue).",
        settings=(
            *connector(
                "value.converter.apicurio.registry.headers.enabled",
                values={"true": "apicurio-headers", "false": "apicurio"},
            ),
            *connector(
                "value.converter.apicurio.registry.as-confluent",
                values={"true": "confluent", "false": "apicurio"},
            ),
            *changefeed(
                "sink.kafka-config.glue-schema-registry-config.registry-name", {ANY_VALUE: "glue"}
            ),
        ),
    )
    schema_names: NameAdjustment = name_adjustment("schema", "avro")
    field_names: NameAdjustment = name_adjustment("field", "none")
    decimal_mode: DecimalHandling = option(
        "avro-decimal-handling-mode",
        "precise",
        "With dialect=ticdc: write DECIMAL as bytes of the logical type decimal, or as text.",
        settings=changefeed(f"{_CODEC}.avro-decimal-handling-mode", is_parameter=True),
    )
    bigint_unsigned_mode: BigintUnsignedHandling = option(
        "avro-bigint-unsigned-handling-mode",
        "long",
        "With dialect=ticdc: write BIGINT UNSIGNED as a long, which has half of its values, or as "
        "text.",
        settings=changefeed(f"{_CODEC}.avro-bigint-unsigned-handling-mode", is_parameter=True),
    )
    has_watermark: bool = option(
        "avro-enable-watermark",
        False,
        "With dialect=ticdc: write statements and watermarks; needs enable-tidb-extension.",
        settings=changefeed(f"{_CODEC}.avro-enable-watermark", is_parameter=True),
    )
    include_start_ts: bool = False
    schemas_enable: SchemasEnable = "true"
    null_is_default: bool = False
    key_converter: KeyConverter = "json"
    heartbeat_identifier: HeartbeatIdentifier = "omit"
    name_prefix: str = "com.xxx"


DEFAULT_SETTINGS = Settings()
OPTIONS = options_of(Settings)
read_settings = settings_reader(Settings)
