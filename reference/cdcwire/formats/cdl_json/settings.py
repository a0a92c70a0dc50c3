"""The options, which the bytes don't say, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

from cdcwire.connect import SchemasEnable
from cdcwire.connect.style import Style
from cdcwire.core.format import Option, OptionValue, parse_options

Lint: TypeAlias = Literal["off", "strict"]

OPTIONS: tuple[Option, ...] = (
    Option(
        "schemas-enable",
        "auto",
        "whether messages have their schema with them; auto: as each message shows",
        ("auto", "true", "false"),
    ),
    Option(
        "replace-null-with-default", False, "a null is its column's default, where there is one"
    ),
    Option(
        "name-prefix", "com.xxx", "what stands before .cdc.data in the names of CDL's own types"
    ),
    Option("data-store", "POSTGRESQL", "DATA_STORE of events that don't tell their connector"),
    Option("lint", "off", "strict: what is passed over otherwise is an error", ("off", "strict")),
)


@dataclass(frozen=True, slots=True)
class Settings:
    """The options, one field each."""

    schemas_enable: SchemasEnable = "auto"
    null_is_default: bool = False
    name_prefix: str = "com.xxx"
    data_store: str = "POSTGRESQL"
    lint: Lint = "off"

    @property
    def style(self) -> Style:
        return Style("cdl-1.0", self.name_prefix)


DEFAULT_SETTINGS = Settings()


def read_settings(given: Mapping[str, OptionValue]) -> Settings:
    """Return settings from options by name. Raises: OptionError."""
    values = parse_options(OPTIONS, given)
    return Settings(
        cast(SchemasEnable, values["schemas-enable"]),
        bool(values["replace-null-with-default"]),
        str(values["name-prefix"]),
        str(values["data-store"]),
        cast(Lint, values["lint"]),
    )
