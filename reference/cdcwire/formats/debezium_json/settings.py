"""The options that the bytes do not show: Debezium's, and those of TiCDC's protocol."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from cdcwire.connect import SchemasEnable
from cdcwire.core.context import Compression
from cdcwire.core.limits import decompressed_bytes
from cdcwire.core.options import (
    ANY_VALUE,
    changefeed,
    connector,
    from_context,
    option,
    options_of,
    settings_reader,
)
from cdcwire.debezium.settings import Dialect, TicdcSettings, name_adjustment
from cdcwire.mysql.settings import check_compression, compression_name, limited

NameAdjustment: TypeAlias = Literal["none", "avro", "avro_unicode"]
_NEGATED = {"true": "false", "false": "true"}


@dataclass(frozen=True, slots=True)
class Settings(TicdcSettings):
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
    schema_names: NameAdjustment = name_adjustment("schema", "none")
    field_names: NameAdjustment = name_adjustment("field", "none")
    compression_name: Literal["none", "lz4", "snappy"] = compression_name()
    compressions: Mapping[str, Compression] = from_context()
    max_decompressed_bytes: int = decompressed_bytes()

    def __post_init__(self) -> None:
        check_compression(self.compression_name, self.compressions)

    @property
    def compression(self) -> Compression | None:
        """The functions that TiCDC compresses key and value with; None without compression."""
        found = self.compressions.get(self.compression_name)
        return None if found is None else limited(found, self.max_decompressed_bytes)


DEFAULT_SETTINGS = Settings()
OPTIONS = options_of(Settings)
read_settings = settings_reader(Settings)
