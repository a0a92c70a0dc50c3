"""The producer's options, as a sink URI names them, as values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from cdcwire.apache_avro.registries import Registry
from cdcwire.core.options import (
    ANY_VALUE,
    OptionError,
    changefeed,
    option,
    options_of,
    settings_reader,
)
from cdcwire.mysql.settings import MAX_MESSAGE_BYTES, TIDB_EXTENSION, ZoneSettings

DecimalMode: TypeAlias = Literal["precise", "string"]
BigintUnsignedMode: TypeAlias = Literal["long", "string"]

_KAFKA = "sink.kafka-config"
_CODEC = f"{_KAFKA}.codec-config"
_INTEGRITY = {"none": False, "correctness": True}
DIALECTS = ("shipped", "float-as-double", "ticdc")


def _dialects(text: str) -> frozenset[str]:
    return frozenset(name for name in text.split(",") if name)


@dataclass(frozen=True, slots=True)
class Settings(ZoneSettings):
    """The options as values.

    Raises: OptionError for an unknown dialect, or for integrity without the options it needs.
    """

    enable_tidb_extension: bool = option(
        "enable-tidb-extension",
        False,
        "Write fields with the operation and the commit timestamp.",
        settings=TIDB_EXTENSION,
    )
    decimal_mode: DecimalMode = option(
        "avro-decimal-handling-mode",
        "precise",
        "Write DECIMAL as bytes of the logical type decimal, or as text.",
        settings=changefeed(f"{_CODEC}.avro-decimal-handling-mode", is_parameter=True),
    )
    bigint_unsigned_mode: BigintUnsignedMode = option(
        "avro-bigint-unsigned-handling-mode",
        "long",
        "Write BIGINT UNSIGNED as a long that wraps, or as text.",
        settings=changefeed(f"{_CODEC}.avro-bigint-unsigned-handling-mode", is_parameter=True),
    )
    enable_watermark: bool = option(
        "avro-enable-watermark",
        False,
        "Write DDL and checkpoints; needs the extension.",
        settings=changefeed(f"{_CODEC}.avro-enable-watermark", is_parameter=True),
    )
    include_before_value: bool = option(
        "avro-include-before-value",
        False,
        "Write the old row of updates and deletes in a field after the columns, as the dialect "
        "ticdc.",
        settings=changefeed(f"{_CODEC}.avro-include-before-value", is_parameter=True),
    )
    integrity: bool = option(
        "integrity",
        False,
        "Write a checksum with each row; needs the extension and both modes as string.",
        settings=(
            *changefeed("integrity.integrity-check-level", _INTEGRITY),
            *changefeed("sink.integrity.integrity-check-level", _INTEGRITY),
        ),
    )
    namespace: str = option("namespace", "default", "First part of the namespace of records.")
    registry: Registry = option(
        "registry",
        "confluent",
        "Registry whose envelope is used.",
        settings=changefeed(
            f"{_KAFKA}.glue-schema-registry-config.registry-name", {ANY_VALUE: "glue"}
        ),
    )
    max_message_bytes: int = option(
        "max-message-bytes",
        10485760,
        "Largest size of a message, in bytes.",
        settings=MAX_MESSAGE_BYTES,
    )
    topic: str = option(
        "topic", "{schema}_{table}", "Topic expression; subjects are named after topics."
    )
    dialects: frozenset[str] = option(
        "dialect",
        "",
        f"Other ways of writing, joined by commas: {', '.join(DIALECTS)}.",
        convert=_dialects,
    )
    unsigned_wrap: bool = option(
        "unsigned-wrap", True, "Read a negative long of BIGINT UNSIGNED as 2^64 more."
    )

    def __post_init__(self) -> None:
        is_text = self.decimal_mode == self.bigint_unsigned_mode == "string"
        if self.integrity and not (self.enable_tidb_extension and is_text):
            raise OptionError(
                "option integrity needs enable-tidb-extension=true, "
                "avro-decimal-handling-mode=string and avro-bigint-unsigned-handling-mode=string"
            )
        unknown = self.dialects - set(DIALECTS)
        if unknown:
            raise OptionError(
                f"option dialect: {', '.join(sorted(unknown))!r:.80} is not one of "
                f"{', '.join(DIALECTS)}"
            )

    @property
    def is_ticdc(self) -> bool:
        """True if TiCDC's new architecture is the producer: no other has old rows."""
        return self.include_before_value or "ticdc" in self.dialects

    @property
    def has_watermark(self) -> bool:
        """True if DDL and checkpoints are sent: the option alone does nothing."""
        return self.enable_tidb_extension and self.enable_watermark


DEFAULT_SETTINGS = Settings()
OPTIONS = options_of(Settings)
read_settings = settings_reader(Settings)
