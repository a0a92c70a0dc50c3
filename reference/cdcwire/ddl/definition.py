"""A table as its statements leave it: columns and keys, before they become a definition.

This module reads a CREATE TABLE; later changes to a table are in ``alter``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from cdcwire.ddl.columns import ReadColumn, read_column, skip_check, skip_reference
from cdcwire.ddl.keys import Key, read_key_parts, with_keys
from cdcwire.ddl.tokens import Cursor, Token
from cdcwire.ddl.types import under_character_set
from cdcwire.model.events import Table
from cdcwire.model.kinds import Column


@dataclass(slots=True)
class Definition:
    """``columns``: by their names without case. ``order``: these names in the order of the table.

    ``character_set``: of columns that name none. ``next_id``: of the next new column. ``table``: as
    the last statement left it; None before the first.
    """

    schema: str | None
    name: str
    columns: dict[str, ReadColumn]
    order: list[str]
    keys: list[Key]
    character_set: str | None = None
    next_id: int = 1
    table: Table | None = None

    def copy(self) -> Definition:
        """Return one that can be changed without this one."""
        columns = {
            name: replace(column, roles=set(column.roles), keys=[])
            for name, column in self.columns.items()
        }
        return replace(self, columns=columns, order=list(self.order), keys=list(self.keys))

    def number(self, columns: Iterable[ReadColumn]) -> None:
        """Give new columns their numbers, and the character set that they have from now on."""
        for column in columns:
            column.type = under_character_set(column.type, self.character_set)
            column.id = self.next_id
            self.next_id += 1


def read_create(
    cursor: Cursor, schema: str | None, known: Mapping[tuple[str | None, str], Definition]
) -> tuple[bool, Token, Definition]:
    """Read the text after CREATE TABLE. ``known``: tables that LIKE may name.

    Returns: whether there is IF NOT EXISTS, where the name begins, and the table. Raises: DdlError.
    """
    is_conditional = cursor.skip("IF", "NOT", "EXISTS")
    begin = cursor.token
    schema, name = read_table_name(cursor, schema)
    if cursor.word() == "LIKE" or (cursor.is_sign("(") and cursor.word(1) == "LIKE"):
        return is_conditional, begin, _read_like(cursor, schema, name, known)
    if not cursor.is_sign("("):
        raise cursor.unexpected("'(' and the columns")
    return is_conditional, begin, _read_definition(cursor, schema, name)


def _read_like(
    cursor: Cursor,
    schema: str | None,
    name: str,
    known: Mapping[tuple[str | None, str], Definition],
) -> Definition:
    """Return a table with the columns and the keys of the one that LIKE names."""
    begin = cursor.token
    is_enclosed = cursor.skip("(")
    cursor.expect("LIKE")
    place = read_table_name(cursor, schema)
    if is_enclosed:
        cursor.expect(")")
    found = known.get(place)
    if found is None:
        other = place[1] if place[0] is None else f"{place[0]}.{place[1]}"
        problem = f"there is no table {other!r:.80} before this LIKE: it needs its CREATE TABLE"
        raise cursor.error(problem, begin)
    return replace(found.copy(), schema=schema, name=name, table=None)


def read_table_name(cursor: Cursor, schema: str | None) -> tuple[str | None, str]:
    """Read ``[schema.]table``; ``schema`` is that of a name without one. Raises: DdlError."""
    name = cursor.name("the name of a table")
    if cursor.skip("."):
        return name, cursor.name("the name of a table")
    return schema, name


def _read_definition(cursor: Cursor, schema: str | None, name: str) -> Definition:
    opening = cursor.next()
    columns: dict[str, ReadColumn] = {}
    keys: list[Key] = []
    while True:
        if not read_element(cursor, keys):
            column = read_column(cursor)
            if column.name.casefold() in columns:
                raise cursor.error(f"the column {column.name!r:.80} is defined twice", column.token)
            columns[column.name.casefold()] = column
            keys += column.keys
        if cursor.skip(")"):
            break
        if not cursor.skip(","):
            raise cursor.unexpected("',' or ')'")
    if not columns:
        raise cursor.error(f"the table {name!r:.80} has no columns", opening)
    definition = Definition(schema, name, columns, list(columns), keys, _read_options(cursor))
    definition.number(columns.values())
    return definition


def finished(cursor: Cursor, definition: Definition, has_ids: bool = False) -> Table:
    """Return the table that a definition is. ``has_ids``: with the numbers of its columns.

    Raises: DdlError for keys that can't be.
    """
    columns = [_column(definition.columns[name], has_ids) for name in definition.order]
    found = with_keys(cursor, columns, definition.keys)
    # In the order of the table, as messages give their key columns.
    key = tuple(column.name for column in found if "handle" in column.roles)
    return Table(definition.name, definition.schema, columns=tuple(found), key=key)


def _column(column: ReadColumn, has_ids: bool) -> Column:
    return Column(
        column.name,
        column.type.kind,
        column.type.source,
        column.nullable,
        column.default,
        frozenset(column.roles),
        column.id if has_ids else None,
    )


def read_element(cursor: Cursor, keys: list[Key]) -> bool:
    """Read a key or a constraint. Returns: False where the text is a column."""
    name: str | None = None
    if cursor.skip("CONSTRAINT"):
        if cursor.word() not in ("PRIMARY", "UNIQUE", "FOREIGN", "CHECK"):
            name = cursor.name("the name of a constraint")
        if cursor.word() not in ("PRIMARY", "UNIQUE", "FOREIGN", "CHECK"):
            raise cursor.unexpected("PRIMARY KEY, UNIQUE, FOREIGN KEY or CHECK")
    if cursor.skip("PRIMARY", "KEY"):
        keys.append(_read_key(cursor, "primary"))
    elif cursor.skip("UNIQUE"):
        _ = cursor.skip("KEY") or cursor.skip("INDEX")
        key = _read_key(cursor, "unique")
        keys.append(replace(key, name=key.name or name))
    elif cursor.skip("KEY") or cursor.skip("INDEX"):
        keys.append(_read_key(cursor, "plain"))
    elif cursor.word() in ("FULLTEXT", "SPATIAL") or (
        cursor.word() == "VECTOR" and cursor.word(1) in ("KEY", "INDEX")
    ):
        cursor.next()
        _ = cursor.skip("KEY") or cursor.skip("INDEX")
        keys.append(_read_key(cursor, "plain"))
    elif cursor.skip("FOREIGN", "KEY"):
        if not cursor.is_sign("("):
            cursor.name("the name of a key")
        cursor.parenthesised()
        cursor.expect("REFERENCES")
        skip_reference(cursor)
    elif cursor.skip("CHECK"):
        skip_check(cursor)
    elif cursor.skip("PERIOD", "FOR"):
        cursor.name("the name of a period")
        cursor.parenthesised()
    else:
        return False
    return True


def _read_key(cursor: Cursor, what: str) -> Key:
    """Read ``[name] [USING BTREE] (columns) options``."""
    _ = cursor.skip("IF", "NOT", "EXISTS")
    name = None
    if not cursor.is_sign("(") and cursor.word() not in ("USING", "TYPE"):
        name = cursor.name("the columns of a key")
    if cursor.skip("USING") or cursor.skip("TYPE"):
        cursor.next()
    key = Key(what, read_key_parts(cursor), name)
    # USING, COMMENT, VISIBLE, CLUSTERED, KEY_BLOCK_SIZE, WITH PARSER, GLOBAL, WHERE … of the key
    cursor.skip_until(lambda token: token.kind == "sign" and token.text in (",", ")", ";"))
    return key


def _read_options(cursor: Cursor) -> str | None:
    """Read a table's options and partitions. Returns: its character set. Raises: DdlError."""
    character_set: str | None = None
    while cursor.token.kind != "end" and not cursor.is_sign(";"):
        if cursor.skip("CHARACTER", "SET") or cursor.skip("CHARSET"):
            cursor.skip("=")
            character_set = cursor.next().text.lower()
        elif cursor.word() in ("SELECT", "AS", "TABLE") or (
            cursor.word() == "WITH" and cursor.word(2) == "AS"
        ):
            raise cursor.error("CREATE TABLE from a query: its columns are not known here")
        elif cursor.is_sign("("):
            cursor.parenthesised()
        elif cursor.is_sign(")"):
            raise cursor.unexpected("';'")
        else:
            cursor.next()
    return character_set
