"""Options that the formats in Kafka Connect's JSON share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from cdcwire.connect.envelope import SchemasEnable
from cdcwire.core.options import option

Lint: TypeAlias = Literal["off", "strict"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectSettings:
    """The options of every format."""

    schemas_enable: SchemasEnable = option(
        "schemas-enable",
        "auto",
        "Expect a schema in every message, or in none. auto: as each message shows.",
    )
    null_is_default: bool = option(
        "replace-null-with-default", False, "Read a null as its column's default, if there is one."
    )
    name_prefix: str = option(
        "name-prefix", "com.xxx", "Text before .cdc.data in the names of CDL's own types."
    )
    lint: Lint = option(
        "lint", "off", "Report as error what a reader may ignore (strict), or ignore it (off)."
    )
