"""The options of Blob messages, as values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from cdcwire.core.options import option, options_of, settings_reader
from cdcwire.datahub.carrying import BodyOptions

BlobEncoding: TypeAlias = Literal["record", "auto", "json", "protobuf", "batch"]


@dataclass(frozen=True, slots=True)
class Settings(BodyOptions):
    """The options as values."""

    encoding: BlobEncoding = option(
        "encoding",
        "record",
        "Content of a message's value: one record, or a body of the service in this encoding. "
        "auto: by its headers and bytes.",
    )
    date_digits: int = option("date-digits", 0, "Number of digits of a DATE. 0: any number.")
    lenient_ops: bool = option("lenient-ops", False, "Read UPDATE_BEFORE as UPDATE_BEFOR.")
    split_updates: bool = option(
        "split-updates", True, "Write an update with both rows as two messages."
    )
    db_type: str = option("db-type", "MySQL", "Value of dbType for events without one.")


DEFAULT_SETTINGS = Settings()
OPTIONS = options_of(Settings)
read_settings = settings_reader(Settings)
