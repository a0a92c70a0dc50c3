"""Definitions of tables in a file of JSON, as ``cdcwire tables`` writes it."""

from __future__ import annotations

import json

from cdcwire.console.problems import json_problem
from cdcwire.console.usage import UsageError
from cdcwire.files.whole_files import read_short
from cdcwire.model.events import Table
from cdcwire.model.text import TextFormError, table_from_json


def read_tables(file: str) -> tuple[Table, ...]:
    """Return the table definitions of a file: a JSON list, or one object per line.

    Raises: UsageError that names the file and the line or member.
    """
    try:
        text = read_short(file).decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"{file}: can't be read: {error.strerror}") from error
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
