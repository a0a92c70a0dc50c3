"""Definitions of tables that a program names: DDL, a file of it, or one of ``tables``."""

from __future__ import annotations

import os
from pathlib import Path

from cdcwire.model.events import Table
from cdcwire_conformance.ddl.tables import parse_ddl, read_ddl_file
from cdcwire_conformance.usage import UsageError, read_tables


def read_definitions(tables: str | os.PathLike[str]) -> tuple[Table, ...]:
    """Return the definitions in a text or in a file.

    A text with spaces is DDL; any other is the name of a file, as a path is. A file of JSON is one
    that ``cdcwire tables`` writes, any other is SQL.
    Raises: DdlError, which is a ValueError; ValueError for JSON of another form; OSError.
    """
    if isinstance(tables, str) and len(tables.split()) > 1:
        return parse_ddl(tables)
    path = Path(tables)
    if path.suffix in (".json", ".jsonl"):
        try:
            return read_tables(str(path))
        except UsageError as error:
            raise ValueError(str(error)) from error
    return read_ddl_file(path)
