"""URLs of tables that a feed is compared with.

``parquet:DIR``, ``delta:DIR`` and ``iceberg:DIR`` are tables in a directory or a bucket, and
``csv-table:FILE`` is a CSV file of this machine. ``table:`` is a table of Spark's catalog,
``jdbc:`` one of a database. A URL is shown, so it takes no password: the password of a database is
in the environment.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias
from urllib.parse import parse_qsl, urlsplit

from cdcwire.files.local_files import meant_file
from cdcwire.files.stores import (
    LocalStore,
    SourceError,
    StoreError,
    directory_of,
    has_password,
    scheme_of,
)

TableKind: TypeAlias = Literal["parquet", "csv-table", "delta", "iceberg", "table", "jdbc"]

CSV: Literal["csv-table"] = "csv-table"
TABLE_KINDS: tuple[TableKind, ...] = ("parquet", CSV, "delta", "iceberg", "table", "jdbc")
_LAKEHOUSE = ("delta", "iceberg")
DRIVERS = {"mariadb": "org.mariadb.jdbc.Driver", "postgresql": "org.postgresql.Driver"}
PASSWORD_VARIABLE = "CDCWIRE_TABLE_PASSWORD"
_JDBC_FORM = "jdbc:postgresql://HOST:PORT/DATABASE?table=SCHEMA.TABLE&user=NAME"


@dataclass(frozen=True, slots=True)
class TableUrl:
    """Where a table is.

    ``place``: a directory, a file, a URL of a store, a name in the catalog, or a URL of JDBC.
    ``name``: its schema, if known, and its name.
    """

    kind: TableKind
    place: str
    name: tuple[str | None, str]
    user: str | None = None

    def __str__(self) -> str:
        if self.kind == "jdbc":
            schema, table = self.name
            return f"{self.place}?table={table if schema is None else f'{schema}.{table}'}"
        return f"{self.kind}:{self.place}"

    @property
    def host(self) -> str:
        """The host of a database, with the port if the URL has one."""
        return urlsplit(self.place.removeprefix("jdbc:")).netloc.rpartition("@")[2]

    @property
    def connector(self) -> str:
        """The connector that Spark needs: a kind, a database, or "" for none."""
        if self.kind == "jdbc":
            return self.place.split(":")[1]
        return self.kind if self.kind in _LAKEHOUSE else ""

    @property
    def scheme(self) -> str:
        """The scheme of the store that has the table, such as ``s3a``; "" for none."""
        return scheme_of(self.place) if self.kind in ("parquet", *_LAKEHOUSE) else ""


def parse_table_url(text: str) -> TableUrl | None:
    """Return the table of a URL; None if it does not begin with a kind of table.

    Raises: SourceError.
    """
    kind, colon, rest = text.partition(":")
    found = next((each for each in TABLE_KINDS if each == kind), None)
    if found is None or not colon:
        return None
    if found == "jdbc":
        return _jdbc_table(text)
    if not rest:
        raise SourceError(f"{text!r}: the table is missing, as in {kind}:{_EXAMPLES[found]}")
    if found == "table":
        return TableUrl(found, rest, _name_of(rest))
    try:
        folder = directory_of(rest)
    except StoreError as error:
        raise SourceError(f"{text!r}: {error}") from error
    if folder is None:
        if found == CSV:
            raise SourceError(f"{text!r}: a CSV file is on this machine, as in {found}:file:FILE")
        if has_password(rest):
            raise SourceError(
                f"{kind}:{scheme_of(rest)}: a URL is shown, so it takes no password; keys go into "
                "Spark's settings or into the environment"
            )
        return TableUrl(found, rest.rstrip("/"), (None, rest.rstrip("/").rpartition("/")[2]))
    if found == CSV:
        file = Path(folder)
        if not file.is_file():
            raise SourceError(f"{text!r}: there is no such file{meant_file(file)}")
        return TableUrl(found, str(file), _name_of(file.stem))
    store = LocalStore(folder)
    if not store.folder.is_dir():
        raise SourceError(f"{text!r}: there is no such directory{meant_file(store.folder)}")
    return TableUrl(found, store.root, (None, store.folder.resolve().name))


def files_here(table: TableUrl) -> list[Path]:
    """Return a CSV file, or the Parquet files in a directory, without those that writers hide."""
    folder = Path(table.place)
    if table.kind == CSV:
        return [folder]
    return sorted(
        path
        for path in folder.rglob("*.parquet")
        if not any(part.startswith(("_", ".")) for part in path.relative_to(folder).parts)
    )


_EXAMPLES = {
    "parquet": "file:DIR",
    CSV: "file:FILE",
    "delta": "file:DIR",
    "iceberg": "file:DIR",
    "table": "CATALOG.SCHEMA.TABLE",
}


def _name_of(text: str) -> tuple[str | None, str]:
    schema, _, table = text.rpartition(".")
    return schema.rpartition(".")[2] or None, table


def _jdbc_table(text: str) -> TableUrl:
    where, _, query = text.partition("?")
    if where.startswith("jdbc:mysql:"):  # MariaDB's driver reads MySQL too
        where = where.replace("mysql", "mariadb", 1)
    database = where.split(":")[1]
    if database not in DRIVERS:
        known = " and ".join(f"jdbc:{name}" for name in sorted(DRIVERS))
        raise SourceError(f"jdbc:{database:.40}: there are drivers for {known}")
    parameters = dict(parse_qsl(query))
    table, user = parameters.pop("table", ""), parameters.pop("user", None)
    parts = urlsplit(where.removeprefix("jdbc:"))
    if parts.password is not None or "password" in parameters:
        raise SourceError(
            f"{database}: a URL is shown, so it takes no password; set {PASSWORD_VARIABLE}"
        )
    if not parts.hostname or not parts.path.strip("/") or not table:
        raise SourceError(f"jdbc:{database}: a table of a database is {_JDBC_FORM}")
    if parameters:
        name = next(iter(parameters))
        raise SourceError(f"jdbc:{database}: {name!r:.40} is not a parameter of {_JDBC_FORM}")
    schema, name = _name_of(table)
    if schema is None and database == "mariadb":
        schema = parts.path.strip("/")
    return TableUrl("jdbc", where, (schema, name), user)
