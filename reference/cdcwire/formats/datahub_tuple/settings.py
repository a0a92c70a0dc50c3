"""The options of Tuple topics, as values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from cdcwire.core.options import option, options_of, settings_reader
from cdcwire.datahub.carrying import BodyOptions

TupleEncoding: TypeAlias = Literal["auto", "json", "protobuf", "batch"]
ShortRecords: TypeAlias = Literal["reject", "absent"]
ExecuteTime: TypeAlias = Literal["_excute_time_", "_execute_time_"]
EXECUTE_TIMES: tuple[ExecuteTime, ...] = get_args(ExecuteTime)  # each as one document spells it


@dataclass(frozen=True, slots=True)
class Settings(BodyOptions):
    """The options as values."""

    encoding: TupleEncoding = option(
        "encoding",
        "auto",
        "Encoding of a body. auto: read by its headers and bytes, written in JSON.",
    )
    empty_is_null: bool = option(
        "empty-is-null", False, "Read an empty text of a field that is not STRING as NULL."
    )
    execute_time_column: ExecuteTime = option(
        "execute-time-column",
        "_excute_time_",
        "Name of this column for a definition that does not list it.",
    )
    short_records: ShortRecords = option(
        "short-records",
        "reject",
        "Records that are older than the last fields: reject them, or read these fields as absent.",
    )
    table: str = option(
        "table", "", "Definition of the topic's table: t or schema.t. Empty: the only one."
    )


DEFAULT_SETTINGS = Settings()
OPTIONS = options_of(Settings)
read_settings = settings_reader(Settings)
