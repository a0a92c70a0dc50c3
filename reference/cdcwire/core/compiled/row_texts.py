"""The values of a row image as text or bytes, by one generated function per table.

The function makes no call of Python for the usual values of most columns. Formats share
it. Their parts differ in data only: a ``Usual`` or a function for each column.

A generated source is made of numbers and of the literals of the module that asks for it. Nothing of
a message, schema or table becomes source. A function gets the parts of these that it needs by a
name that is bound to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from string import Template
from typing import Any, AnyStr, NoReturn, TypeAlias

from cdcwire.core.compiled.interfaces import Irregular


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


Write: TypeAlias = Callable[[Any], str]

NO_NULLS: Mapping[int, object] = {}


def refuse(value: object) -> NoReturn:
    """Leave a row to the plain encoder, as one of its values is not usual."""
    raise Irregular


@dataclass(frozen=True, slots=True)
class Usual:
    """The writer of the values of a column: ``text`` where ``test`` is true, else ``plainly``.

    Both are expressions of ``$v``, the value, and of names such as ``$low``, which ``names`` binds.
    ``$t`` is free for what the test has to remember. A test looks at the exact type first: True is
    not 1, and a subclass may print otherwise. ``plainly`` gets all other values except NULL.
    """

    test: str
    text: str
    plainly: Callable[[Any], str | bytes] = refuse
    names: Mapping[str, object] = field(default_factory=dict)


Writer: TypeAlias = "Usual | Callable[[Any], str | bytes]"


def texts_of_values(
    writers: Sequence[Writer],
    order: Sequence[int],
    null: str | None = "null",
    nulls: Mapping[int, object] = NO_NULLS,
) -> Callable[[Sequence[Any]], tuple[str, ...]]:
    """Return what makes the texts of the values of an image.

    ``writers``: one for each value of the image. ``order``: which values the texts have. ``null``:
    the text of NULL. ``nulls``: the texts of NULL of some values; ``refuse`` if NULL is not usual.
    """
    parts, names = _parts(writers, order, null, nulls)
    found: Callable[[Sequence[Any]], tuple[str, ...]]
    found = compile_function("texts", "values", _lines(len(writers), parts, "{}"), names)
    return found


def text_of_image(
    pieces: Sequence[AnyStr],
    writers: Sequence[Writer],
    order: Sequence[int],
    null: str | None = "null",
    nulls: Mapping[int, object] = NO_NULLS,
) -> Callable[[Sequence[Any]], AnyStr]:
    """Return what makes the text of an image, or its bytes.

    ``pieces``: the text before the first value, between two values, and after the last. For the
    others, see ``texts_of_values``.
    """
    parts, names = _parts(writers, order, null, nulls)
    around = [f"piece{place}" for place in range(len(pieces))]
    names |= zip(around, pieces, strict=True)
    names["joined"] = pieces[0][:0].join
    mixed = [around[0]]
    for part, piece in zip(parts, around[1:], strict=True):
        mixed += (part, piece)
    found: Callable[[Sequence[Any]], AnyStr]
    found = compile_function("text", "values", _lines(len(writers), mixed, "joined({})"), names)
    return found


def _parts(
    writers: Sequence[Writer], order: Iterable[int], null: object, nulls: Mapping[int, object]
) -> tuple[list[str], dict[str, object]]:
    """Return an expression for each value of ``order``, and the names that they use."""
    names: dict[str, object] = {"null": null}
    parts: list[str] = []
    for index in order:
        writer, usual = writers[index], ""
        if isinstance(writer, Usual):
            own = {"v": f"v{index}", "t": f"t{index}"}
            for name, bound in writer.names.items():
                own[name] = f"{name}_{index}"
                names[own[name]] = bound
            usual = Template(f"({writer.text}) if {writer.test} else ").substitute(own)
            writer = writer.plainly
        names[f"plainly{index}"] = writer
        without = "null"
        if index in nulls:
            names[f"null{index}"] = nulls[index]
            without = f"null{index}(v{index})" if nulls[index] is refuse else f"null{index}"
        value = f"v{index}"
        parts.append(f"{usual}{without} if None is {value} else plainly{index}({value})")
    return parts, names


def _lines(count: int, parts: Sequence[str], form: str) -> list[str]:
    """Return the body of a function that puts parts together; a wrong count is a ValueError."""
    values = "".join(f"v{index}, " for index in range(count))
    return [f"{values or '()'} = values", f"return {form.format(_tuple(parts))}"]


def _tuple(parts: Sequence[str]) -> str:
    return f"({''.join(f'{part}, ' for part in parts)})"
