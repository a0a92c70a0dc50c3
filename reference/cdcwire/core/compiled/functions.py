"""Generated functions: one for each layout of columns, unrolled column by column.

A source is made of numbers and of the literals of the module that asks for it. Nothing of a
message, schema or table becomes source. A function gets the parts of these that it needs by a name
that is bound to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any


def compile_function(
    name: str, parameters: str, lines: Iterable[str], names: Mapping[str, object]
) -> Callable[..., Any]:
    """Return the function of a source; ``names`` are the globals that it may use.

    ``lines``: its body, without the outermost indentation. See the module for what may be in them.
    """
    scope: dict[str, Any] = dict(names)
    exec(source_of(name, parameters, lines), scope)
    function: Callable[..., Any] = scope[name]
    return function


def source_of(name: str, parameters: str, lines: Iterable[str]) -> str:
    """Return the source of a function."""
    return "\n".join([f"def {name}({parameters}):", *indented(lines)])


def indented(lines: Iterable[str]) -> list[str]:
    """Return lines one level deeper."""
    return [f" {line}" for line in lines]
