"""Options of the command line as arguments of a function."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NoReturn, TypeAlias

from cdcwire_conformance.usage import UsageError

Single: TypeAlias = "str | int | float | os.PathLike[str]"
OptionValue: TypeAlias = "Single | bool | Iterable[Single] | Mapping[str, Single | bool] | None"


class OptionParser(argparse.ArgumentParser):
    """A parser that raises its errors and does not end the process."""

    def error(self, message: str) -> NoReturn:
        """Raise the error. Raises: UsageError."""
        raise UsageError(message)


def parsed(
    parser: argparse.ArgumentParser, places: Sequence[str], options: Mapping[str, OptionValue]
) -> argparse.Namespace:
    """Return the arguments of a command, from its positional arguments and options by name.

    Raises: TypeError for an unknown option, or a value of another type; UsageError.
    """
    words = [word for name, value in options.items() for word in _words(parser, name, value)]
    return parser.parse_args([*words, "--", *places])


def _words(parser: argparse.ArgumentParser, name: str, value: OptionValue) -> Iterator[str]:
    """Yield an option as words of the command line."""
    flag = f"--{name.rstrip('_').replace('_', '-')}"
    action = next((each for each in parser._actions if flag in each.option_strings), None)
    if action is None or isinstance(action, argparse._HelpAction):
        raise TypeError(f"compare has no option {name}")
    if value is None:
        return
    if action.nargs == 0:
        if not isinstance(value, bool):
            raise TypeError(f"{name} is True or False")
        if value:
            yield flag
    elif isinstance(action, argparse._AppendAction):
        yield from (f"{flag}={each}" for each in _several(name, value))
    elif name == "columns" and not isinstance(value, str):
        yield f"{flag}={','.join(_several(name, value))}"
    elif isinstance(value, (str, int, float, os.PathLike)) and not isinstance(value, bool):
        yield f"{flag}={os.fspath(value) if isinstance(value, os.PathLike) else value}"
    else:
        raise TypeError(f"{name} is one value")


def _several(name: str, value: OptionValue) -> Iterator[str]:
    """Yield the values of an option that may be given again: of one text, of texts, of pairs."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield f"{key}={str(each).lower() if isinstance(each, bool) else each}"
    elif isinstance(value, Iterable):
        yield from map(str, value)
    else:
        raise TypeError(f"{name} is a text, a list of texts, or a dict")
