"""The producer's options, which the bytes do not show, as values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from cdcwire.core.limits import decimal_digits
from cdcwire.core.options import option, options_of, settings_reader

KeyFormat: TypeAlias = Literal["none", "hash", "array"]


@dataclass(frozen=True, slots=True)
class Settings:
    """The options as values."""

    output_commit_info: bool = option("output_commit_info", True, "Write xid and commit.")
    output_xoffset: bool = option(
        "output_xoffset", True, "Write xoffset, except in the last row of a transaction."
    )
    output_nulls: bool = option("output_nulls", True, "Write columns that are NULL.")
    output_primary_keys: bool = option(
        "output_primary_keys", False, "Write the values of the primary key."
    )
    output_primary_key_columns: bool = option(
        "output_primary_key_columns", False, "Write the names of the key columns."
    )
    max_decimal_digits: int = decimal_digits()
    kafka_key_format: KeyFormat = option(
        "kafka_key_format", "none", "Form of Kafka keys; none: write no keys, as in a file."
    )


DEFAULT_SETTINGS = Settings()
OPTIONS = options_of(Settings)
read_settings = settings_reader(Settings)
