"""The producer's options, as a sink URI spells them, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

from cdcwire.core.format import Option, OptionError, OptionValue, parse_options

DecimalMode: TypeAlias = Literal["precise", "string"]
BigintUnsignedMode: TypeAlias = Literal["long", "string"]
Registry: TypeAlias = Literal["confluent", "glue"]

DIALECTS = ("shipped", "float-as-double", "padded-bit")

OPTIONS: tuple[Option, ...] = (
    Option("enable-tidb-extension", False, "fields that tell operation and commit timestamp"),
    Option(
        "avro-decimal-handling-mode",
        "precise",
        "DECIMAL as bytes of the logical type decimal, or as text",
        ("precise", "string"),
    ),
    Option(
        "avro-bigint-unsigned-handling-mode",
        "long",
        "BIGINT UNSIGNED as a long that wraps, or as text",
        ("long", "string"),
    ),
    Option("avro-enable-watermark", False, "DDL and checkpoints too; needs the extension"),
    Option("integrity", False, "a checksum with each row; needs the extension and both as text"),
    Option("namespace", "default", "first part of the namespace of records"),
    Option("registry", "confluent", "which registry's envelope", ("confluent", "glue")),
    Option("max-message-bytes", 10485760, "size from which on a message is too large"),
    Option("topic", "{schema}_{table}", "topic expression; subjects are named after topics"),
    Option("time-zone", "", "zone of TIMESTAMP texts; empty: unknown"),
    Option("dialect", "", f"other ways of writing, joined by commas: {', '.join(DIALECTS)}"),
    Option("unsigned-wrap", True, "read a negative long of BIGINT UNSIGNED as 2^64 more"),
)


@dataclass(frozen=True, slots=True)
class Settings:
    """The options, one field each. ``time_zone`` None: unknown. Sizes are in bytes."""

    enable_tidb_extension: bool = False
    decimal_mode: DecimalMode = "precise"
    bigint_unsigned_mode: BigintUnsignedMode = "long"
    enable_watermark: bool = False
    integrity: bool = False
    namespace: str = "default"
    registry: Registry = "confluent"
    max_message_bytes: int = 10485760
    topic: str = "{schema}_{table}"
    time_zone: str | None = None
    dialects: frozenset[str] = frozenset()
    unsigned_wrap: bool = True

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
                f"option dialect: {', '.join(sorted(unknown))!r:.80} is none of "
                f"{', '.join(DIALECTS)}"
            )

    @property
    def has_watermark(self) -> bool:
        """Whether DDL and checkpoints are sent: the option alone does nothing."""
        return self.enable_tidb_extension and self.enable_watermark


DEFAULT_SETTINGS = Settings()


def read_settings(given: Mapping[str, OptionValue]) -> Settings:
    """Return settings from options by name.

    Raises: OptionError for an unknown option, a value that it does not allow, or options that do
    not go together.
    """
    values = parse_options(OPTIONS, given)
    return Settings(
        bool(values["enable-tidb-extension"]),
        cast(DecimalMode, values["avro-decimal-handling-mode"]),
        cast(BigintUnsignedMode, values["avro-bigint-unsigned-handling-mode"]),
        bool(values["avro-enable-watermark"]),
        bool(values["integrity"]),
        str(values["namespace"]),
        cast(Registry, values["registry"]),
        int(values["max-message-bytes"]),
        str(values["topic"]),
        str(values["time-zone"]) or None,
        frozenset(name for name in str(values["dialect"]).split(",") if name),
        bool(values["unsigned-wrap"]),
    )
