"""The keys of a table, and what they make of its columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from cdcwire.ddl.tokens import Cursor, Token
from cdcwire.model.kinds import Column, Role


@dataclass(frozen=True, slots=True)
class KeyPart:
    """A column of a key, by its name; an expression has None as ``name``."""

    name: str | None
    token: Token


@dataclass(frozen=True, slots=True)
class Key:
    """``what``: primary, unique, or plain for an index that allows repeats.

    ``name``: as the DDL gives it, None if it gives none.
    """

    what: str
    parts: tuple[KeyPart, ...]
    name: str | None = None


def read_key_parts(cursor: Cursor) -> tuple[KeyPart, ...]:
    """Read ``(a, b(10) DESC, (a + b))``. Raises: DdlError."""
    cursor.expect("(")
    parts = []
    while True:
        begin = cursor.token
        if cursor.is_sign("("):
            cursor.parenthesised()
            parts.append(KeyPart(None, begin))
        else:
            name: str | None = cursor.name("a column of the key")
            if cursor.is_sign("("):
                length = cursor.parenthesised()
                # a(10) is the beginning of a column, lower(a) an expression
                name = name if length.isascii() and length.isdigit() else None
            if cursor.skip("WITHOUT", "OVERLAPS"):  # a period, which is not a column
                name = None
            parts.append(KeyPart(name, begin))
        if not cursor.skip("ASC"):
            cursor.skip("DESC")
        if not cursor.skip(","):
            break
    cursor.expect(")")
    return tuple(parts)


def with_keys(
    cursor: Cursor,
    columns: Sequence[Column],
    keys: Iterable[Key],
    fold: Callable[[str], str] = str.casefold,
) -> list[Column]:
    """Return the columns with the roles that the keys give them.

    ``fold``: gives equal texts for names that mean the same column.

    Roles primary, unique: every column of such a key. Role multiple: every column of a key of
    several columns, and the only one of an index that allows repeats. Role handle: the primary key,
    otherwise the unique key of the fewest columns, none of them nullable or virtual. The first of
    several such keys is taken. Indexes that a foreign key brings about are left out. Raises:
    DdlError for a key over a column that does not exist, and for a second primary key.
    """
    places = {fold(column.name): index for index, column in enumerate(columns)}
    roles: list[set[Role]] = [set(column.roles) for column in columns]
    nullable = [column.nullable for column in columns]
    primary: list[int] | None = None
    unique: list[list[int]] = []
    for key in keys:
        begin = key.parts[0].token
        members = [
            _place(cursor, places, part, fold) for part in key.parts if part.name is not None
        ]
        if len(set(members)) < len(members):
            raise cursor.error("a column is twice in one key", begin)
        is_whole = len(members) == len(key.parts)
        for member in members:
            if len(key.parts) > 1 or key.what == "plain":
                roles[member].add("multiple")
        if key.what == "primary":
            if primary is not None or not is_whole:
                problem = "a second primary key" if is_whole else "a primary key over an expression"
                raise cursor.error(problem, begin)
            primary = members
            for member in members:
                roles[member].add("primary")
                nullable[member] = False
        elif key.what == "unique":
            for member in members:
                roles[member].add("unique")
            if is_whole:
                unique.append(members)
    for member in _handle(primary, unique, nullable, roles):
        roles[member].add("handle")
    return [
        replace(column, roles=frozenset(found), nullable=may_be_null)
        for column, found, may_be_null in zip(columns, roles, nullable, strict=True)
    ]


def _handle(
    primary: list[int] | None,
    unique: list[list[int]],
    nullable: Sequence[bool | None],
    roles: Sequence[set[Role]],
) -> list[int]:
    if primary is not None:
        return primary
    fit = [
        members
        for members in unique
        if not any(nullable[member] or "virtual" in roles[member] for member in members)
    ]
    return min(fit, key=len, default=[])


def _place(
    cursor: Cursor, places: dict[str, int], part: KeyPart, fold: Callable[[str], str]
) -> int:
    assert part.name is not None
    found = places.get(fold(part.name))
    if found is None:
        raise cursor.error(f"there is no column {part.name!r:.80}", part.token)
    return found
