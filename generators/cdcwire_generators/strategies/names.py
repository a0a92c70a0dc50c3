"""Names of schemas, tables and columns."""

from __future__ import annotations

from functools import lru_cache

from hypothesis import strategies as st

from cdcwire_generators import extremes

NAME_BYTES = 1024  # the formats refuse longer names


@lru_cache(maxsize=16)
def names(*, max_bytes: int = NAME_BYTES) -> st.SearchStrategy[str]:
    """Give names of 1 to ``max_bytes`` bytes of UTF-8: plain, odd, and any text."""
    if not 1 <= max_bytes <= NAME_BYTES:
        raise ValueError(f"max_bytes={max_bytes} is not in 1 to {NAME_BYTES}")
    odd = [name for name in extremes.NAMES if len(name.encode()) <= max_bytes]
    plain = st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=min(3, max_bytes))
    anything = st.text(st.characters(codec="utf-8"), min_size=1, max_size=min(8, max_bytes))
    fitting = anything.filter(lambda name: len(name.encode()) <= max_bytes)
    return st.one_of(plain, st.sampled_from(odd) if odd else plain, fitting)


@lru_cache(maxsize=64)
def column_names(
    *, min_size: int = 1, max_size: int = 6, has_field_names: bool = False
) -> st.SearchStrategy[list[str]]:
    """Give lists of names for the columns of one table; no two differ by case only.

    ``has_field_names``: only names that Avro keeps as they are.
    """
    if not 0 <= min_size <= max_size:
        raise ValueError(f"min_size={min_size} and max_size={max_size} are not in order")
    some = _field_names() if has_field_names else names()
    return st.lists(some, min_size=min_size, max_size=max_size, unique_by=str.casefold)


@lru_cache(maxsize=4)
def table_names(
    *, has_path_names: bool = False, has_field_names: bool = False
) -> st.SearchStrategy[str]:
    """Give names of tables; only those that directories may have, or that Avro keeps."""
    if has_field_names:  # each of them may be a directory's as well
        return _field_names()
    return names().filter(_is_path_name) if has_path_names else names()


@lru_cache(maxsize=4)
def schema_names(
    *, has_path_names: bool = False, has_field_names: bool = False
) -> st.SearchStrategy[str]:
    """Give names of schemas; often the same, so that tables meet in one."""
    some = table_names(has_path_names=has_path_names, has_field_names=has_field_names)
    return st.one_of(st.just("test"), some)


def _is_path_name(name: str) -> bool:
    return name not in (".", "..") and "/" not in name and "\0" not in name


def _field_names() -> st.SearchStrategy[str]:
    plain = st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=3)
    return st.one_of(plain, st.from_regex("[A-Za-z_][A-Za-z0-9_]{0,6}", fullmatch=True))
