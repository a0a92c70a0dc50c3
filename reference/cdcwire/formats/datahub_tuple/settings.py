"""The options of Tuple topics, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from cdcwire.core.format import Compression, Option, OptionValue, parse_options
from cdcwire.datahub import carrying
from cdcwire.datahub.body import BodySettings

EXECUTE_TIMES = ("_excute_time_", "_execute_time_")  # as one document spells it, and the other

OPTIONS: tuple[Option, ...] = (
    Option(
        "encoding",
        "auto",
        "how a body is encoded; auto: told by its headers and bytes, and written in JSON",
        ("auto", "json", "protobuf", "batch"),
    ),
    *carrying.OPTIONS,
    Option("empty-is-null", False, "an empty text of a field that is no STRING is NULL"),
    Option(
        "execute-time-column",
        EXECUTE_TIMES[0],
        "name of the column, where the definition does not list it",
        EXECUTE_TIMES,
    ),
    Option("table", "", "which of the definitions is the topic's; empty: there is one"),
)
NO_COMPRESSIONS: Mapping[str, Compression] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Settings:
    """The options, one field each; those of bodies in ``body``."""

    body: BodySettings = field(default_factory=BodySettings)
    max_batch_size: int = 16
    execute_time_column: str = EXECUTE_TIMES[0]
    table: str = ""


DEFAULT_SETTINGS = Settings()


def read_settings(
    given: Mapping[str, OptionValue], compressions: Mapping[str, Compression] = NO_COMPRESSIONS
) -> Settings:
    """Return settings from options by name.

    ``compressions``: the functions for ``lz4-block``, which the standard library lacks; blocks are
    read without them too. Raises: OptionError for an unknown option or a value not allowed.
    """
    values = parse_options(OPTIONS, given)
    is_null = bool(values["empty-is-null"])
    return Settings(
        carrying.body_settings(values, compressions, empty_is_null=is_null),
        int(values["max-batch-size"]),
        str(values["execute-time-column"]),
        str(values["table"]),
    )
