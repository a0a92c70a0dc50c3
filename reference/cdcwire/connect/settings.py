"""Options that the formats in Kafka Connect's JSON share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from cdcwire.connect.envelope import SchemasEnable
from cdcwire.core.limits import decimal_digits
from cdcwire.core.options import JSON_CONVERTER, Connector, connector, option

# The sinks that read a format's messages. Decimals are bytes in base64 here.
NEEDED = {"value.converter.decimal.format": "BASE64", "key.converter.decimal.format": "BASE64"}
JSON_SINKS = Connector(JSON_CONVERTER, needs=NEEDED)

Lint: TypeAlias = Literal["off", "strict"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectSettings:
    """The options of every format."""

    schemas_enable: SchemasEnable = option(
        "schemas-enable",
        "auto",
        "Expect a schema in every message, or in none. auto: as each message shows.",
        settings=connector("value.converter.schemas.enable", "key.converter.schemas.enable"),
    )
    null_is_default: bool = option(
        "replace-null-with-default", False, "Read a null as its column's default, if there is one."
    )
    max_decimal_digits: int = decimal_digits()
    name_prefix: str = option(
        "name-prefix", "com.xxx", "Text before .cdc.data in the names of CDL's own types."
    )
    lint: Lint = option(
        "lint", "off", "Report as error what a reader may ignore (strict), or ignore it (off)."
    )
