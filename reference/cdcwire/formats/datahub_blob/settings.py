"""The options of Blob messages, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, TypeAlias, cast

from cdcwire.core.format import Compression, Option, OptionValue, parse_options
from cdcwire.datahub import carrying
from cdcwire.datahub.body import BodySettings

BlobEncoding: TypeAlias = Literal["record", "auto", "json", "protobuf", "batch"]

OPTIONS: tuple[Option, ...] = (
    Option(
        "encoding",
        "record",
        "what a message's value is: one record, or a body of the service; auto: told by its "
        "headers and bytes",
        ("record", "auto", "json", "protobuf", "batch"),
    ),
    *carrying.OPTIONS,
    Option("date-digits", 0, "how many digits a DATE must have; 0 is any number"),
    Option("lenient-ops", False, "UPDATE_BEFORE is read as UPDATE_BEFOR"),
    Option("split-updates", True, "an update with both rows is written as two messages"),
    Option("db-type", "MySQL", "dbType of messages whose event does not tell it"),
)
NO_COMPRESSIONS: Mapping[str, Compression] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Settings:
    """The options, one field each; those of bodies in ``body``."""

    encoding: BlobEncoding = "record"
    body: BodySettings = field(default_factory=BodySettings)
    max_batch_size: int = 16
    date_digits: int = 0
    lenient_ops: bool = False
    split_updates: bool = True
    db_type: str = "MySQL"


DEFAULT_SETTINGS = Settings()


def read_settings(
    given: Mapping[str, OptionValue], compressions: Mapping[str, Compression] = NO_COMPRESSIONS
) -> Settings:
    """Return settings from options by name.

    ``compressions``: the functions for ``lz4-block``, which the standard library lacks; blocks are
    read without them too. Raises: OptionError for an unknown option or a value not allowed.
    """
    values = parse_options(OPTIONS, given)
    return Settings(
        cast(BlobEncoding, values["encoding"]),
        carrying.body_settings(values, compressions),
        int(values["max-batch-size"]),
        int(values["date-digits"]),
        bool(values["lenient-ops"]),
        bool(values["split-updates"]),
        str(values["db-type"]),
    )
