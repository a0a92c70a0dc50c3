"""The notation of values on the command line and in options of a data source."""

from __future__ import annotations

from collections.abc import Iterable

from cdcwire.core.nearest import did_you_mean
from cdcwire.core.options import OptionValue


class UsageError(Exception):
    """The command can't run as it was called. The text is one line for the user."""


_MOST_NAMES = 5


def meant_or_met(name: str, names: Iterable[str]) -> str:
    """Return the end of an error about an unknown name: the name that is like it, or all names."""
    known = sorted(set(names))
    meant = did_you_mean(name, known)
    if meant or not known:
        return meant
    more = f" and {len(known) - _MOST_NAMES:,} more" if len(known) > _MOST_NAMES else ""
    return f"; known: {', '.join(known[:_MOST_NAMES])}{more}"


DEFAULT_SCHEMA = "test"  # of tables whose DDL names none


def parse_option_arguments(arguments: list[str]) -> dict[str, OptionValue]:
    """Return ``name=value`` arguments as a mapping. Raises: UsageError."""
    options: dict[str, OptionValue] = {}
    for argument in arguments:
        name, equals, value = argument.partition("=")
        if not equals or not name:
            raise UsageError(
                f"--option {argument!r:.80} is not NAME=VALUE; see `cdcwire options FORMAT`"
            )
        options[name] = value
    return options


def column_names(option: str, lists: Iterable[str], example: str) -> frozenset[str]:
    """Return the columns of an option's lists, which have commas. Raises: UsageError."""
    names = frozenset(name for each in lists for name in each.split(","))
    if "" in names:
        raise UsageError(f"{option}: a name of a column is empty; write {example}")
    return names
