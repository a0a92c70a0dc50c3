"""The producer's options, which the bytes do not show, as values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from cdcwire.core.options import changefeed, option, options_of, settings_reader
from cdcwire.mysql.settings import CLAIM_CHECK_RAW_VALUE, LargeRowSettings

Encoding: TypeAlias = Literal["json", "avro"]
Dialect: TypeAlias = Literal["ticdc", "tiflow"]


@dataclass(frozen=True, slots=True)
class Settings(LargeRowSettings):
    """The options as values."""

    encoding_format: Encoding = option(
        "encoding-format",
        "json",
        "Encoding of the messages.",
        settings=changefeed("sink.kafka-config.codec-config.encoding-format", is_parameter=True),
    )
    claim_check_raw_value: bool = option(
        "claim-check-raw-value",
        False,
        "Store the bare message in a claim-check file, not an object with key and value.",
        settings=CLAIM_CHECK_RAW_VALUE,
    )
    dialect: Dialect = option("dialect", "ticdc", "Producer whose messages are written.")


DEFAULT_SETTINGS = Settings()
OPTIONS = options_of(Settings)
read_settings = settings_reader(Settings)
