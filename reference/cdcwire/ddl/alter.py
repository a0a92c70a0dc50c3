"""ALTER TABLE: what each of its parts makes of a table's columns and keys.

Read is what changes columns, keys or names. Options of the table, partitions, foreign keys and
checks are ignored: they change no message. A column that goes is taken out of the keys that it was
in, as MySQL does it; TiDB refuses some of these statements.
"""

from __future__ import annotations

from dataclasses import replace

from cdcwire.ddl.columns import ReadColumn, read_column, read_default
from cdcwire.ddl.definition import Definition, read_element, read_table_name
from cdcwire.ddl.keys import Key
from cdcwire.ddl.tokens import Cursor, Token
from cdcwire.ddl.types import ColumnType, under_character_set
from cdcwire.model.kinds import ABSENT


def alter_table(cursor: Cursor, definition: Definition) -> None:
    """Carry out the text after ``ALTER TABLE name``, up to the end of the statement.

    Raises: DdlError for unknown syntax, and for columns and keys that do not exist.
    """
    while True:
        _part(cursor, definition)
        if not cursor.skip(","):
            break
    if not (cursor.token.kind == "end" or cursor.is_sign(";")):
        raise cursor.unexpected("',' or ';'")


def _part(cursor: Cursor, definition: Definition) -> None:
    begin = cursor.token
    if cursor.skip("ADD"):
        _add(cursor, definition)
    elif cursor.skip("DROP"):
        _drop(cursor, definition)
    elif cursor.skip("MODIFY"):
        _skip_column_word(cursor)
        column = _existing(cursor, definition, "the name of a column", moves=False)
        _replace(cursor, definition, column)
    elif cursor.skip("CHANGE"):
        _skip_column_word(cursor)
        _replace(cursor, definition, _existing(cursor, definition, "the name of a column"))
    elif cursor.skip("RENAME"):
        _rename(cursor, definition)
    elif cursor.skip("ALTER"):
        _alter(cursor, definition)
    elif cursor.skip("CONVERT", "TO"):
        _convert(cursor, definition)
    elif any(cursor.skip(*words) for words in _CHARACTER_SET):
        definition.character_set = _set_name(cursor)
        if cursor.skip("COLLATE"):
            _set_name(cursor)
    elif cursor.word() in _UP_TO_A_COMMA:
        cursor.skip_until(lambda token: token.kind == "sign" and token.text in (",", ";"))
    elif cursor.word() in _UP_TO_THE_END:
        _skip_statement(cursor)
    else:
        raise cursor.error(f"{cursor.shown()} begins nothing that is known of ALTER TABLE", begin)


def _add(cursor: Cursor, definition: Definition) -> None:
    if cursor.word() in _NOT_OF_COLUMNS:
        _skip_statement(cursor)
        return
    keys: list[Key] = []
    # After COLUMN there is no key: a column may have the name of one in quotes only
    if not _skip_column_word(cursor) and read_element(cursor, keys):
        definition.keys += keys
        _keep_not_null(definition)
        return
    is_conditional = cursor.skip("IF", "NOT", "EXISTS")
    if cursor.skip("("):
        while True:
            if not read_element(cursor, definition.keys):
                _add_column(cursor, definition, is_conditional, is_placed=False)
            if not cursor.skip(","):
                break
        cursor.expect(")")
    else:
        _add_column(cursor, definition, is_conditional, is_placed=True)
    _keep_not_null(definition)


def _add_column(
    cursor: Cursor, definition: Definition, is_conditional: bool, is_placed: bool
) -> None:
    column = read_column(cursor, is_alone=True)
    name = column.name.casefold()
    place = len(definition.order)
    if is_placed:
        place = _read_place(cursor, definition, place)
    if name in definition.columns:
        if is_conditional:
            return
        raise cursor.error(f"the column {column.name!r:.80} already exists", column.token)
    definition.number([column])
    definition.columns[name] = column
    definition.order.insert(place, name)
    definition.keys += column.keys


def _replace(cursor: Cursor, definition: Definition, old: ReadColumn) -> None:
    """Read the new form of a column, and where it goes."""
    column = read_column(cursor, is_alone=True)
    name = column.name.casefold()
    if definition.columns.get(name, old) is not old:
        raise cursor.error(f"the column {column.name!r:.80} already exists", column.token)
    column.type = under_character_set(column.type, definition.character_set)
    column.id = old.id
    _put(definition, old, column)
    definition.keys += column.keys
    if cursor.word() in ("FIRST", "AFTER"):
        place = definition.order.index(name)
        del definition.order[place], definition.columns[name]
        definition.order.insert(_read_place(cursor, definition, place), name)
        definition.columns[name] = column
    _keep_not_null(definition)


def _put(definition: Definition, old: ReadColumn, new: ReadColumn) -> None:
    """Put a column in the place of another, also in the keys."""
    _rename_in_keys(definition, old.name, new.name)
    before, name = old.name.casefold(), new.name.casefold()
    if name != before:
        definition.order[definition.order.index(before)] = name
        del definition.columns[before]
    definition.columns[name] = new


def _read_place(cursor: Cursor, definition: Definition, place: int) -> int:
    """Read FIRST or AFTER. Returns: the place of the column; ``place`` where neither is given."""
    if cursor.skip("FIRST"):
        return 0
    if cursor.skip("AFTER"):
        before = _existing(cursor, definition, "the column before it")
        return definition.order.index(before.name.casefold()) + 1
    return place


def _drop(cursor: Cursor, definition: Definition) -> None:
    if cursor.skip("PRIMARY", "KEY"):
        if not any(key.what == "primary" for key in definition.keys):
            raise cursor.error("there is no primary key")
        _keep_not_null(definition)
        definition.keys = [key for key in definition.keys if key.what != "primary"]
    elif cursor.skip("INDEX") or cursor.skip("KEY"):
        drop_key(cursor, definition)
    elif cursor.word() in _NOT_OF_COLUMNS:
        _skip_statement(cursor)
    elif cursor.skip("FOREIGN", "KEY") or cursor.skip("CHECK"):
        _ = cursor.skip("IF", "EXISTS")
        cursor.name("the name of a constraint")
    elif cursor.skip("CONSTRAINT"):
        begin = cursor.token
        name = cursor.name("the name of a constraint")
        if name.upper() == "PRIMARY" and begin.kind == "name":
            definition.keys = [key for key in definition.keys if key.what != "primary"]
        elif _key_of(definition, name) is not None:
            definition.keys.remove(_known_key(cursor, definition, name, begin))
    else:
        _skip_column_word(cursor)
        is_conditional = cursor.skip("IF", "EXISTS")
        begin = cursor.token
        name = cursor.name("the name of a column").casefold()
        if name in definition.columns:
            _drop_column(cursor, definition, name, begin)
        elif not is_conditional:
            raise cursor.error(f"there is no column {begin.text!r:.80}", begin)
        _ = cursor.skip("RESTRICT") or cursor.skip("CASCADE")


def _drop_column(cursor: Cursor, definition: Definition, name: str, begin: Token) -> None:
    if len(definition.columns) == 1:
        raise cursor.error("the last column of a table can't go", begin)
    del definition.columns[name]
    definition.order.remove(name)
    keys = []
    for key in definition.keys:
        parts = tuple(p for p in key.parts if p.name is None or p.name.casefold() != name)
        if parts:
            keys.append(replace(key, parts=parts))
    definition.keys = keys


def drop_key(cursor: Cursor, definition: Definition) -> None:
    """Read the name of a key, which goes. Raises: DdlError."""
    is_conditional = cursor.skip("IF", "EXISTS")
    begin = cursor.token
    name = cursor.name("the name of a key")
    if name.upper() == "PRIMARY":
        _keep_not_null(definition)
        definition.keys = [key for key in definition.keys if key.what != "primary"]
    elif not is_conditional or _key_of(definition, name) is not None:
        definition.keys.remove(_known_key(cursor, definition, name, begin))


def _rename(cursor: Cursor, definition: Definition) -> None:
    if cursor.skip("COLUMN"):
        column = _existing(cursor, definition, "the name of a column")
        cursor.expect("TO")
        begin = cursor.token
        name = cursor.name("the new name")
        if definition.columns.get(name.casefold(), column) is not column:
            raise cursor.error(f"the column {name!r:.80} already exists", begin)
        _put(definition, column, replace(column, name=name, keys=[]))
    elif cursor.skip("INDEX") or cursor.skip("KEY"):
        begin = cursor.token
        key = _known_key(cursor, definition, cursor.name("the name of a key"), begin)
        cursor.expect("TO")
        renamed = replace(key, name=cursor.name("the new name"))
        definition.keys = [renamed if each is key else each for each in definition.keys]
    else:
        _ = cursor.skip("TO") or cursor.skip("AS") or cursor.skip("=")
        definition.schema, definition.name = read_table_name(cursor, definition.schema)


def _alter(cursor: Cursor, definition: Definition) -> None:
    """Carry out ``ALTER [COLUMN] name SET DEFAULT x``, and ignore what is said of indexes."""
    if cursor.word() in ("INDEX", "CHECK", "CONSTRAINT"):
        cursor.skip_until(lambda token: token.kind == "sign" and token.text in (",", ";"))
        return
    _skip_column_word(cursor)
    column = _existing(cursor, definition, "the name of a column")
    if cursor.skip("SET", "DEFAULT"):
        default = read_default(cursor, column.type.kind)
    elif cursor.skip("DROP", "DEFAULT"):
        default = ABSENT
    elif cursor.skip("SET", "VISIBLE") or cursor.skip("SET", "INVISIBLE"):
        return
    else:
        raise cursor.unexpected("SET DEFAULT or DROP DEFAULT")
    column.default = default


def _convert(cursor: Cursor, definition: Definition) -> None:
    """Carry out ``CONVERT TO CHARACTER SET x``: of texts, which the set ``binary`` makes bytes."""
    if not cursor.skip("CHARSET"):
        cursor.expect("CHARACTER", "SET")
    definition.character_set = _set_name(cursor)
    if cursor.skip("COLLATE"):
        _set_name(cursor)
    for column in definition.columns.values():
        plain: ColumnType = replace(column.type, character_set=None)
        column.type = under_character_set(plain, definition.character_set)


def _set_name(cursor: Cursor) -> str:
    cursor.skip("=")
    if cursor.token.kind == "text":
        return cursor.next().text.lower()
    return cursor.name("the name of a character set").lower()


def _skip_column_word(cursor: Cursor) -> bool:
    return cursor.skip("COLUMN")


def _existing(cursor: Cursor, definition: Definition, what: str, moves: bool = True) -> ReadColumn:
    """Read the name of an existing column. Raises: DdlError.

    ``moves``: False leaves the cursor at the name.
    """
    begin, index = cursor.token, cursor.index
    is_conditional = cursor.skip("IF", "EXISTS")
    name = cursor.name(what)
    column = definition.columns.get(name.casefold())
    if column is None:
        raise cursor.error(f"there is no column {name!r:.80}", begin)
    if not moves:
        cursor.index = index + 2 * is_conditional
    return column


def _rename_in_keys(definition: Definition, old: str, new: str) -> None:
    definition.keys = [
        replace(
            key,
            parts=tuple(
                replace(part, name=new)
                if part.name is not None and part.name.casefold() == old.casefold()
                else part
                for part in key.parts
            ),
            name=_name_of(key),
        )
        for key in definition.keys
    ]


def _keep_not_null(definition: Definition) -> None:
    """Note at the columns of the primary key that they are NOT NULL, also when it has gone."""
    for key in definition.keys:
        if key.what == "primary":
            for part in key.parts:
                column = definition.columns.get((part.name or "").casefold())
                if column is not None:
                    column.nullable = False


def _name_of(key: Key) -> str | None:
    """Return the name that a key has, also if none was given: that of its first column."""
    return key.name if key.name is not None or key.what == "primary" else key.parts[0].name


def _key_of(definition: Definition, name: str) -> Key | None:
    taken: set[str] = set()
    for key in definition.keys:
        own = (_name_of(key) or "").casefold()
        number = 2
        found = own
        while key.name is None and found in taken:
            found = f"{own}_{number}"
            number += 1
        taken.add(found)
        if found and found == name.casefold():
            return key
    return None


def _known_key(cursor: Cursor, definition: Definition, name: str, begin: Token) -> Key:
    key = _key_of(definition, name)
    if key is None:
        raise cursor.error(f"there is no key {name!r:.80}", begin)
    return key


def _skip_statement(cursor: Cursor) -> None:
    cursor.skip_until(lambda token: token.kind == "sign" and token.text == ";")


_CHARACTER_SET = (
    ("DEFAULT", "CHARACTER", "SET"),
    ("DEFAULT", "CHARSET"),
    ("CHARACTER", "SET"),
    ("CHARSET",),
)
_NOT_OF_COLUMNS = frozenset({"PARTITION", "STATS_EXTENDED"})
# Options of a table, and ways of carrying out the statement: no message changes.
_UP_TO_A_COMMA = frozenset(
    {
        *("ALGORITHM", "LOCK", "FORCE", "WITH", "WITHOUT", "ENABLE", "DISABLE", "DISCARD"),
        *("IMPORT", "ENGINE", "COMMENT", "AUTO_INCREMENT", "AUTO_ID_CACHE", "AUTO_RANDOM_BASE"),
        *("AVG_ROW_LENGTH", "CHECKSUM", "COLLATE", "DEFAULT", "COMPRESSION", "CONNECTION"),
        *("DATA", "DELAY_KEY_WRITE", "ENCRYPTION", "INDEX", "INSERT_METHOD", "KEY_BLOCK_SIZE"),
        *("MAX_ROWS", "MIN_ROWS", "PACK_KEYS", "PASSWORD", "ROW_FORMAT", "STATS_AUTO_RECALC"),
        *("STATS_PERSISTENT", "STATS_SAMPLE_PAGES", "STATS_BUCKETS", "STATS_TOPN"),
        *("STATS_COL_CHOICE", "STATS_COL_LIST", "STATS_SAMPLE_RATE", "STORAGE", "TABLESPACE"),
        *("UNION", "SHARD_ROW_ID_BITS", "PRE_SPLIT_REGIONS", "SECONDARY_ENGINE"),
        *("SECONDARY_LOAD", "SECONDARY_UNLOAD", "TTL", "TTL_ENABLE", "TTL_JOB_INTERVAL"),
        *("PLACEMENT", "CACHE", "NOCACHE", "COMPACT", "AFFINITY", "ATTRIBUTES", "STATS_OPTIONS"),
        *("ENGINE_ATTRIBUTE", "SECONDARY_ENGINE_ATTRIBUTE"),
    }
)
# What has commas of its own, and is the last or the only part: partitions, an order, replicas.
_UP_TO_THE_END = frozenset(
    {
        *("ORDER", "PARTITION", "TRUNCATE", "COALESCE", "REORGANIZE", "EXCHANGE", "ANALYZE"),
        *("CHECK", "OPTIMIZE", "REBUILD", "REPAIR", "REMOVE", "UPGRADE", "SPLIT", "MERGE", "SET"),
    }
)
