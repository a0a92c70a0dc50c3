"""``feed.json``: the format and the options of the messages in a directory, as ``generate`` has it.

With ``tables.json``, the definitions of the tables, it lets a feed be read without any option.
``cdcwire tables`` writes such definitions too. Options of the user override those of the file. In a
storage prefix it is ``.feed.json``: a prefix has only the sink's files, and hidden ones of other
programs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from cdcwire.console.problems import UsageError, json_problem
from cdcwire.core.context import Context
from cdcwire.core.options import OptionError, OptionValue, parse_options
from cdcwire.files import local_files
from cdcwire.files.local_files import is_inside, read_inside, read_short, unreadable, write_whole
from cdcwire.files.stores import SourceError, is_url
from cdcwire.model.events import Table
from cdcwire.model.text import TextFormError, table_from_json
from cdcwire.registry import FORMAT_NAMES, get_format

FEED_FILE = "feed.json"
PREFIX_FEED_FILE = ".feed.json"
TABLES_FILE = "tables.json"


@dataclass(frozen=True, slots=True)
class FeedFile:
    """The file of a directory. ``tables``: the definitions, if the format needs them."""

    path: str
    format: str
    options: Mapping[str, OptionValue]
    tables: tuple[Table, ...] = ()

    def applied(self, context: Context) -> Context:
        """Return the context with what it does not have itself."""
        given = {name.rpartition(".")[2] for name in context.options}
        own = {name: value for name, value in self.options.items() if name not in given}
        options = {**own, **context.options}
        return replace(context, options=options, tables=context.tables or self.tables)


def write_feed_file(
    folder: Path, format_name: str, context: Context, name: str = FEED_FILE
) -> None:
    """Write the file. Raises: OSError."""
    options = dict(sorted(context.options.items()))
    text = json.dumps({"feed": 1, "format": format_name, "options": options}, indent=1)
    write_whole(folder / name, f"{text}\n".encode())


def read_feed_file(folder: str) -> FeedFile | None:
    """Return the file of a local directory, if it has one. Raises: SourceError; UsageError."""
    if not folder or is_url(folder):
        return None
    paths = (Path(folder, name) for name in (FEED_FILE, PREFIX_FEED_FILE))
    path = next(filter(Path.is_file, paths), None)
    if path is None:
        return None
    try:
        document = json.loads(
            read_inside(path.parent, path.name, local_files.MAX_TEXT_BYTES).decode("utf-8")
        )
    except OSError as error:
        raise SourceError(f"{path}: can't be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise SourceError(f"{path}: is {json_problem(error)}") from error
    if not isinstance(document, dict) or document.get("feed") != 1:
        raise SourceError(f'{path}: is not a description of a feed, with "feed": 1')
    name, options = document.get("format"), document.get("options", {})
    if name not in FORMAT_NAMES or not isinstance(options, dict):
        raise SourceError(f"{path}: format or options are not known: {name!r:.80}")
    try:
        parse_options(get_format(name).options, options)
    except OptionError as error:
        raise SourceError(f"{path}: {error}") from error
    tables = Path(folder, TABLES_FILE)
    has_tables = get_format(name).needs_tables and tables.is_file()
    if has_tables and not is_inside(tables.parent, tables):
        raise SourceError(f"{tables}: can't be read: it leads out of its directory")
    return FeedFile(str(path), name, options, read_tables(str(tables)) if has_tables else ())


def read_tables(file: str) -> tuple[Table, ...]:
    """Return the table definitions of a file: a JSON list, or one object per line.

    Raises: UsageError that names the file and the line or member.
    """
    try:
        text = read_short(file).decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"{file}: {unreadable(error, file)}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{file}: byte {error.start} is not UTF-8") from error
    tables = []
    for index, document in enumerate(_documents(text, file)):
        try:
            tables.append(table_from_json(document))
        except TextFormError as error:
            raise UsageError(f"{file}: table {index}: {error}") from error
    return tuple(tables)


def _documents(text: str, file: str) -> list[object]:
    try:
        if text.lstrip().startswith("["):
            found = json.loads(text)
            assert isinstance(found, list)
            return found
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{file}: {json_problem(error)}") from error
