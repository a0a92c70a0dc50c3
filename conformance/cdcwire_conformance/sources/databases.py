"""Queries to MariaDB, MySQL and PostgreSQL by drivers of Python, and why a database gives nothing.

All values are texts as the database writes them; bytes stay bytes, and arrays are lists of texts.
The rows come some at a time, so that any number fits in memory.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from importlib.util import find_spec
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from cdcwire.extras import load_extra, load_library
from cdcwire.files.stores import SourceError
from cdcwire_conformance.sources.tables import PASSWORD_VARIABLE, TableUrl

Value: TypeAlias = "str | bytes | list[str | None] | None"
Row: TypeAlias = Sequence[Value]

LIBRARIES: Mapping[str, str] = {"mariadb": "pymysql", "postgresql": "psycopg"}
_PSYCOPG = "'psycopg[binary]<4,>=3.2'"  # not in an extra: its licence is the LGPL
_SETTINGS = {
    # The instants of a TIMESTAMP are in UTC. The server waits long for a reader of many rows.
    "mariadb": "SET SESSION sql_mode = 'ANSI_QUOTES', time_zone = '+00:00',"
    " net_write_timeout = 3600",
    # As JDBC's driver does: the texts of dates, and all digits of floats.
    "postgresql": "SELECT set_config('datestyle', 'ISO', false),"
    " set_config('extra_float_digits', '3', false), set_config('bytea_output', 'hex', false)",
}
_ROWS_AT_ONCE = 10_000
_CONNECT_SECONDS = 30
# Classes of SQLSTATE, which all databases give.
_NO_CONNECTION, _NO_AUTHORIZATION = "08", "28"
_REFUSED = (1044, 1045, 1698)  # MariaDB's numbers of errors: user, password, database
_LOST = (2002, 2003, 2006, 2013)
_LONGEST = 300  # characters of a reason


def is_readable(table: TableUrl) -> bool:
    """Return whether these drivers know all parts of a URL. JDBC's knows more: several hosts."""
    parts = urlsplit(table.place.removeprefix("jdbc:"))
    try:
        port = parts.port or 1
    except ValueError:
        return False
    has_more = any(sign in table.place for sign in "@,%") or "/" in parts.path.strip("/")
    return port > 0 and not has_more


def has_driver(table: TableUrl) -> bool:
    """Return whether the driver of a database is installed."""
    return find_spec(LIBRARIES[table.connector]) is not None


def load_driver(table: TableUrl) -> Any:
    """Return the driver of a database. Raises: MissingExtraError."""
    library, purpose = LIBRARIES[table.connector], "the table of a database"
    if table.connector == "postgresql":
        return load_library(library, _PSYCOPG, purpose)
    return load_extra(library, "tables", purpose)


def rows_of(table: TableUrl, query: str) -> Iterator[list[Row]]:
    """Yield the rows of a query, some at a time, in one view of the database.

    Raises: SourceError.
    """
    read = _of_mariadb if table.connector == "mariadb" else _of_postgresql
    yield from read(table, query)


def database_problem(table: TableUrl, state: str, message: str, reason: str) -> str:
    """Return the line for an error. ``reason``: the text of its first cause."""
    if state.startswith(_NO_CONNECTION):
        return f"{table}: no database answers at {table.host}: {_one_line(reason)}"
    if state.startswith(_NO_AUTHORIZATION):
        return (
            f"{table}: the database refuses the user: {_one_line(message)}; check user= in the URL "
            f"and the password in {PASSWORD_VARIABLE}"
        )
    return f"{table}: {_one_line(message)}"


def _of_mariadb(table: TableUrl, query: str) -> Iterator[list[Row]]:
    pymysql: Any = load_driver(table)
    # It raises RuntimeError for a login that needs the package cryptography.
    with _readable(table, (pymysql.err.Error, RuntimeError), _mariadb_problem):
        connection = pymysql.connect(
            **_place(table),
            database=_database(table),
            password=os.environ.get(PASSWORD_VARIABLE, "").encode(),
            charset="utf8mb4",
            connect_timeout=_CONNECT_SECONDS,
            init_command=_SETTINGS["mariadb"],
            conv=pymysql.converters.encoders,  # and no decoders
            cursorclass=pymysql.cursors.SSCursor,
        )
        with closing(connection), connection.cursor() as cursor:
            cursor.execute(query)
            try:
                while rows := cursor.fetchmany(_ROWS_AT_ONCE):
                    yield rows
            finally:  # else it reads all rows that are left, also of a lost connection
                cursor._result.unbuffered_active = False


def _of_postgresql(table: TableUrl, query: str) -> Iterator[list[Row]]:
    psycopg: Any = load_driver(table)
    with _readable(table, psycopg.Error, _postgresql_refusal):
        connection = _postgresql_connection(psycopg, table, _database(table))
    with _readable(table, psycopg.Error, _postgresql_problem), closing(connection):
        connection.execute(_SETTINGS["postgresql"])
        with connection.cursor(name="cdcwire") as cursor:
            cursor.execute(query)
            while rows := cursor.fetchmany(_ROWS_AT_ONCE):
                yield rows


def _postgresql_connection(psycopg: Any, table: TableUrl, database: str) -> Any:
    return psycopg.connect(
        **_place(table),
        dbname=database,
        password=os.environ.get(PASSWORD_VARIABLE) or None,
        connect_timeout=_CONNECT_SECONDS,
        client_encoding="utf8",
        context=_texts(psycopg),
    )


def _texts(psycopg: Any) -> Any:
    """Return how PostgreSQL's driver reads values: as text, except bytes and lists of texts."""
    found = psycopg.adapt.AdaptersMap(psycopg.adapters)
    for known in psycopg.adapters.types:
        found.register_loader(known.oid, psycopg.types.string.TextLoader)
    found.register_loader("bytea", psycopg.types.string.ByteaLoader)
    psycopg.types.array.register_array(found.types["text"], found)
    return found


def _place(table: TableUrl) -> dict[str, Any]:
    parts = urlsplit(table.place.removeprefix("jdbc:"))
    given = {"host": parts.hostname, "port": parts.port, "user": table.user}
    return {name: value for name, value in given.items() if value is not None}


def _database(table: TableUrl) -> str:
    return urlsplit(table.place.removeprefix("jdbc:")).path.strip("/")


@contextmanager
def _readable(
    table: TableUrl,
    kind: type[Exception] | tuple[type[Exception], ...],
    problem: Callable[[TableUrl, Any], str],
) -> Iterator[None]:
    """Turn the error of a driver into one line. Raises: SourceError."""
    try:
        yield
    except kind as error:
        raise SourceError(problem(table, error)) from error


def _mariadb_problem(table: TableUrl, error: Any) -> str:
    number, message = error.args if len(error.args) == 2 else (None, str(error))
    cause = getattr(error, "original_exception", None)
    reason = getattr(cause, "strerror", None) or str(message)
    state = _NO_AUTHORIZATION if number in _REFUSED else ""
    return database_problem(
        table, _NO_CONNECTION if number in _LOST else state, str(message), reason
    )


def _postgresql_problem(table: TableUrl, error: Any) -> str:
    message = str(error).partition("\n")[0]
    state = error.sqlstate or _NO_CONNECTION  # a connection that is lost has none
    return database_problem(table, state, message, message)


def _postgresql_refusal(table: TableUrl, error: Any) -> str:
    """Return the line for a connection that fails, for which libpq has no SQLSTATE."""
    message = str(error).partition("\n")[0].rpartition("failed: ")[2]
    connection = error.pgconn
    if connection is None or not (connection.used_password or connection.needs_password):
        state = _NO_CONNECTION
    else:
        state = "" if _enters_server(table) else _NO_AUTHORIZATION
    return database_problem(table, state, message, message)


def _enters_server(table: TableUrl) -> bool:
    """Return whether the user may enter the database that every server begins with."""
    psycopg: Any = load_driver(table)
    try:
        _postgresql_connection(psycopg, table, "postgres").close()
    except psycopg.Error:
        return False
    return True


def _one_line(text: str) -> str:
    return " ".join(text.split())[:_LONGEST]
