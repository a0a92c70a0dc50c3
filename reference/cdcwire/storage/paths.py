"""Names in a storage prefix: what each path says, and the path of each file.

Paths are relative to the prefix, which the caller knows, and have ``/`` between their parts. The
caller gives the settings of the changefeed (``PathLayout``): ``s/t/5/2023/CDC000001.csv`` is a
partition without dates, and the year 2023 with ``date-separator = year``.

A path is split and its directories are counted. So no character of a schema or table is special,
and a schema or table called ``meta`` is distinguished from the directory of that name. Reading
takes the names of the newer producer too: dispatchers, and table ids in place of schema and table.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date as calendar_date
from types import MappingProxyType
from typing import Literal, TypeAlias

from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.core.options import changefeed, option
from cdcwire.model.carries import option as carried_by
from cdcwire.model.kinds import DatetimeType
from cdcwire.model.temporal import count_text

DateSeparator: TypeAlias = Literal["none", "year", "month", "day"]
NAMES = "storage: names"
SEPARATORS = "storage: separators"
FILE_NUMBERS = "storage: file numbers"
NEWER = "storage: newer variants"
LIMITS = "storage: limits"
METADATA_NAME = "metadata"
META_DIRECTORY = "meta"
DATA_PREFIX = "CDC"
DEFAULT_DIGITS = 20
MIN_DIGITS = 6
MAX_U64 = (1 << 64) - 1
MAX_I64 = (1 << 63) - 1
MAX_PATH_LENGTH = 4096
_LENGTHS: Mapping[DateSeparator, int] = MappingProxyType(
    {"none": 0, "year": 4, "month": 7, "day": 10}
)

_PARTITIONS = "enable-partition-separator"
OF_PATHS = carried_by(_PARTITIONS)
"""How a row's partition comes through: the path of its file has it."""


@dataclass(frozen=True, slots=True)
class PathLayout:
    """The settings that paths depend on. ``digits`` is ``file-index-digit`` as it is set."""

    date_separator: DateSeparator = option(
        "date-separator",
        "day",
        "Part of the date that the paths of files have.",
        settings=changefeed("sink.date-separator"),
    )
    has_partitions: bool = option(
        _PARTITIONS,
        True,
        "Give each partition of a table its own directory.",
        settings=changefeed("sink.enable-partition-separator"),
    )
    digits: int = option(
        "file-index-digit",
        DEFAULT_DIGITS,
        "Digits of the file number in paths: 6 to 20, else 20.",
        settings=changefeed("sink.file-index-digit"),
    )
    extension: str = ".csv"

    def __post_init__(self) -> None:
        if self.date_separator not in _DATES:
            allowed = ", ".join(_DATES)
            raise ValueError(f"date-separator {self.date_separator!r} is not one of {allowed}")
        if self.extension not in (".csv", ".json"):
            raise ValueError(f"the extension is .csv or .json: {self.extension!r}")

    @property
    def width(self) -> int:
        """The digits of a file number: outside 6 to 20 the setting counts as 20."""
        return self.digits if MIN_DIGITS <= self.digits <= DEFAULT_DIGITS else DEFAULT_DIGITS


@dataclass(frozen=True, slots=True)
class DataPath:
    """A file of rows. ``date`` is "" without dates, ``partition`` a partition's table id.

    ``schema`` is "" and ``table`` the id of the table where ids are used as path.
    """

    schema: str
    table: str
    version: int
    partition: int | None
    date: str
    number: int
    dispatcher: str | None = None


@dataclass(frozen=True, slots=True)
class IndexPath:
    """The file in a data directory that names the latest data file."""

    schema: str
    table: str
    version: int
    partition: int | None
    date: str
    dispatcher: str | None = None


@dataclass(frozen=True, slots=True)
class SchemaPath:
    """A schema file, of a table or with ``table`` None of a database.

    With table ids as path it looks like a database's, and ``schema`` is the id; its content shows
    the difference.
    """

    schema: str
    table: str | None
    version: int
    checksum: int


@dataclass(frozen=True, slots=True)
class MetadataPath:
    """The file with the checkpoint."""


StoragePath: TypeAlias = "DataPath | IndexPath | SchemaPath | MetadataPath"


def parse_path(path: str, layout: PathLayout) -> StoragePath:
    """Return what a path says.

    Raises: DecodeError at offset 0, whose problem quotes the path.
    Source: storage, "names" and "separators".
    """
    if len(path) > MAX_PATH_LENGTH:
        problem = f"a path of {len(path)} characters; {MAX_PATH_LENGTH} are allowed"
        raise DecodeError(problem, 0, LIMITS)
    if path == METADATA_NAME:
        return MetadataPath()
    *directories, name = path.split("/")
    for part in (*directories, name):
        wrong = _problem_of_part(part)
        if wrong is not None:
            raise _error(path, wrong)
    if directories and directories[-1] == META_DIRECTORY:
        found = _SCHEMA_FILE.fullmatch(name)
        if found is not None:
            return _schema_path(path, directories[:-1], found)
        found = _INDEX_FILE.fullmatch(name)
        if found is not None:
            return IndexPath(*_directory(path, directories[:-1], layout), found.group(1))
    number, owner = _data_name(path, name, layout)
    return DataPath(*_directory(path, directories, layout), number, owner)


def path_text(parsed: StoragePath, layout: PathLayout) -> str:
    """Return the path. Raises: EncodeError for names and numbers that the layout can't have."""
    match parsed:
        case MetadataPath():
            return METADATA_NAME
        case SchemaPath(schema, table, version, checksum):
            names = [schema] if table is None else [schema, table]
            for name in names:
                check_name(name)
            _check_number(version, "version", 0, MAX_U64)
            _check_number(checksum, "checksum", 0, (1 << 32) - 1)
            schema_name = f"schema_{version}_{checksum:010d}.json"
            return "/".join((*names, META_DIRECTORY, schema_name))
        case IndexPath():
            meta = (META_DIRECTORY, index_name(parsed.dispatcher))
            return "/".join((*_directories(parsed, layout), *meta))
        case DataPath():
            file = data_name(parsed.number, layout, parsed.dispatcher)
            return "/".join((*_directories(parsed, layout), file))


def data_name(number: int, layout: PathLayout, dispatcher: str | None = None) -> str:
    """Return the name of a data file. A number wider than the setting widens the name."""
    _check_number(number, "file number", 1, MAX_U64)
    _check_dispatcher(dispatcher)
    owner = "" if dispatcher is None else f"_{dispatcher}_"
    return f"{DATA_PREFIX}{owner}{number:0{layout.width}d}{layout.extension}"


def index_name(dispatcher: str | None = None) -> str:
    """Return the name of an index file."""
    _check_dispatcher(dispatcher)
    return f"{DATA_PREFIX}.index" if dispatcher is None else f"{DATA_PREFIX}_{dispatcher}.index"


def parse_data_name(name: str, layout: PathLayout) -> tuple[int, str | None] | None:
    """Return number and dispatcher of a data file's name; None if it is not one.

    Any width of at least 6 digits is read, whatever ``layout`` says; case matters.
    """
    if not name.endswith(layout.extension):
        return None
    found = _DATA_FILE.fullmatch(name[: -len(layout.extension)])
    if found is None:
        return None
    number = int(found.group(2))
    return (number, found.group(1)) if 1 <= number <= MAX_U64 else None


def check_name(name: str, clause: str = NAMES) -> None:
    """Raise EncodeError for the name of a schema or table that can't be a directory."""
    problem = _problem_of_part(name)
    if problem is None and "/" in name:
        problem = "has a '/'"
    if problem is None and any("\ud800" <= char <= "\udfff" for char in name):
        problem = "is not Unicode text"
    if problem is not None:
        raise EncodeError(f"the name {name!r:.80} {problem}", clause)


_DATES: dict[str, re.Pattern[str] | None] = {
    "none": None,
    "year": re.compile(r"[0-9]{4}"),
    "month": re.compile(r"[0-9]{4}-[0-9]{2}"),
    "day": re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}"),
}
_SCHEMA_FILE = re.compile(r"schema_([0-9]{1,20})_([0-9]{10})\.json")
_DISPATCHER = re.compile(r"[0-9A-Za-z_-]{1,64}")
_INDEX_FILE = re.compile(rf"CDC(?:_({_DISPATCHER.pattern}))?\.index")
_DATA_FILE = re.compile(rf"CDC(?:_({_DISPATCHER.pattern})_)?([0-9]{{6,20}})")
_NUMBER = re.compile(r"0|[1-9][0-9]{0,19}")


def _error(path: str, problem: str, clause: str = NAMES) -> DecodeError:
    return DecodeError(f"path {path!r:.300}: {problem}", 0, clause)


def _problem_of_part(part: str) -> str | None:
    if not part:
        return "has an empty part"
    if part in (".", ".."):
        return f"has a part {part!r}"
    return "has a NUL character" if "\0" in part else None


def _schema_path(path: str, names: list[str], found: re.Match[str]) -> SchemaPath:
    if len(names) not in (1, 2):
        problem = f"a schema file has 2 or 3 directories, here are {len(names) + 1}"
        raise _error(path, problem)
    version = _number(path, found.group(1), "version", MAX_U64, NAMES)
    checksum = int(found.group(2))
    if checksum >> 32:
        raise _error(path, f"the hash {checksum} has more than 32 bits")
    return SchemaPath(names[0], names[1] if len(names) == 2 else None, version, checksum)


def _data_name(path: str, name: str, layout: PathLayout) -> tuple[int, str | None]:
    parsed = parse_data_name(name, layout)
    if parsed is None:
        looks_numbered = name.startswith(DATA_PREFIX) and name.endswith(layout.extension)
        problem = (
            f"{name!r:.80} is not the name of a data ({layout.extension}), index or schema file"
        )
        raise _error(path, problem, FILE_NUMBERS if looks_numbered else NAMES)
    return parsed


def _directory(
    path: str, directories: list[str], layout: PathLayout
) -> tuple[str, str, int, int | None, str]:
    """Return schema, table, version, partition and date of a data directory."""
    parts = list(directories)
    pattern = _DATES[layout.date_separator]
    names = 2
    usual = 3 if pattern is None else 4
    if len(parts) == usual - 1:
        names = 1  # {table id}/{version}[/{date}]
    elif len(parts) != usual and not (layout.has_partitions and len(parts) == usual + 1):
        allowed = f"{usual} or {usual + 1}" if layout.has_partitions else f"{usual}"
        problem = (
            f"{len(parts)} directories, where date-separator = {layout.date_separator} "
            f"has {allowed}"
        )
        raise _error(path, problem, SEPARATORS)
    date = ""
    if pattern is not None:
        date = parts.pop()
        if pattern.fullmatch(date) is None or not _is_date(date):
            problem = f"{date!r:.40} is not a {layout.date_separator}"
            raise _error(path, problem, SEPARATORS)
    partition = None
    if len(parts) == names + 2:
        partition = _number(path, parts.pop(), "partition", MAX_I64, SEPARATORS)
    version = _number(path, parts.pop(), "version", MAX_U64, SEPARATORS)
    if names == 1:
        _number(path, parts[0], "table id", MAX_I64, NEWER)
        return "", parts[0], version, None, date
    return parts[0], parts[1], version, partition, date


def _is_date(text: str) -> bool:
    year, month, day = (*(int(part) for part in text.split("-")), 1, 1)[:3]
    try:
        calendar_date(year, month, day)
    except ValueError:
        return False
    return True


def _number(path: str, text: str, what: str, limit: int, clause: str) -> int:
    if _NUMBER.fullmatch(text) is None or int(text) > limit:
        raise _error(path, f"{text!r:.40} is not a {what}", clause)
    return int(text)


def _directories(parsed: DataPath | IndexPath, layout: PathLayout) -> list[str]:
    if not parsed.schema:  # a table id as path
        parts = [parsed.table]
        is_id = _NUMBER.fullmatch(parsed.table) is not None and int(parsed.table) <= MAX_I64
        if not is_id or parsed.partition is not None:
            problem = f"without a schema the table {parsed.table!r:.80} is an id, unpartitioned"
            raise EncodeError(problem, NEWER)
    else:
        parts = [parsed.schema, parsed.table]
        for part in parts:
            check_name(part)
    _check_number(parsed.version, "version", 0, MAX_U64)
    parts.append(str(parsed.version))
    if parsed.partition is not None:
        if not layout.has_partitions:
            problem = f"enable-partition-separator is off, and there is {parsed.partition}"
            raise EncodeError(problem, SEPARATORS)
        _check_number(parsed.partition, "partition", 0, MAX_I64)
        parts.append(str(parsed.partition))
    pattern = _DATES[layout.date_separator]
    if pattern is None:
        is_fitting = parsed.date == ""
    else:
        is_fitting = pattern.fullmatch(parsed.date) is not None and _is_date(parsed.date)
        parts.append(parsed.date)
    if not is_fitting:
        problem = f"the date {parsed.date!r:.40} under date-separator = {layout.date_separator}"
        raise EncodeError(problem, SEPARATORS)
    return parts


def _check_number(number: int, what: str, least: int, most: int) -> None:
    if not least <= number <= most:
        raise EncodeError(f"the {what} {number} is not in {least} to {most}", NAMES)


def _check_dispatcher(dispatcher: str | None) -> None:
    if dispatcher is not None and _DISPATCHER.fullmatch(dispatcher) is None:
        raise EncodeError(f"{dispatcher!r:.80} is not a dispatcher's id", NEWER)


def date_directory(milliseconds: int, separator: DateSeparator) -> str:
    """Return the directory of the date of a time, ``2024-01-31``; "" without dates.

    ``milliseconds``: since 1970, by the clock whose date counts.
    Raises: ValueError outside the years 0 to 9999.
    """
    length = _LENGTHS[separator]
    return count_text(DatetimeType(form="ms"), milliseconds)[:length] if length else ""
