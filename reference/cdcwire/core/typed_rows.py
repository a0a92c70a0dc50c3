"""Row images as values of a type that the user chose: dict, tuple, a TypedDict or a class.

A class is a dataclass, a NamedTuple or a ``msgspec.Struct``; its constructor's parameters are the
columns. Columns without a field are ignored, so that a new column of the table breaks no consumer.
A field without a column takes its default. Values are those of the model. The type of each value is
checked against the annotation of its field: once for each combination of types.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import is_dataclass
from inspect import Parameter, signature
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Generic,
    Literal,
    TypeAlias,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from cdcwire.core.rows import Layout, Values
from cdcwire.model.events import Image, Table

R = TypeVar("R")
Maker: TypeAlias = Callable[[Values], R]

_WANTED = "dict, tuple, a TypedDict, a dataclass, a NamedTuple or a msgspec.Struct"
_MAX_KEPT = 1 << 10


class TypedRows(Generic[R]):
    """Makes rows of one type. Raises: TypeError for a type that cannot be a row."""

    def __init__(self, rows: type[R]) -> None:
        self._rows = rows
        self._fields = _fields_of(rows)
        self._makers: dict[Layout | tuple[str, ...], Maker[R]] = {}

    def of_layout(self, layout: Layout, values: Values, table: Table) -> R:
        """Return the row of a fast decoder's values. Raises: TypeError if they do not fit."""
        make = self._makers.get(layout)
        if make is None:
            make = self._keep(layout, tuple(column.name for column in layout.columns), table)
        return make(layout.model_values(values))

    def of_image(self, image: Image, table: Table) -> R:
        """Return the row of an image. Raises: TypeError if its values do not fit."""
        names = image.names
        return (self._makers.get(names) or self._keep(names, names, table))(image.values)

    def _keep(
        self, key: Layout | tuple[str, ...], names: tuple[str, ...], table: Table
    ) -> Maker[R]:
        if len(self._makers) >= _MAX_KEPT:
            self._makers.clear()
        self._makers[key] = make = self._maker(names, table)
        return make

    def _maker(self, names: tuple[str, ...], table: Table) -> Maker[R]:
        rows: Any = self._rows
        if rows is tuple:
            return lambda values: values  # type: ignore[return-value]  # R is tuple
        if self._fields is None:
            return lambda values: rows(zip(names, values, strict=True))
        where = f"{rows.__name__} for table {'.'.join(filter(None, (table.schema, table.name)))}"
        for name, (_, is_needed) in self._fields.items():
            if is_needed and name not in names:
                found = ", ".join(names)
                raise TypeError(
                    f"{where}: the row has no column {name!r}, and the field has no default; "
                    f"the row has: {found}"
                )
        chosen = {index: name for index, name in enumerate(names) if name in self._fields}
        fields, picked = tuple(chosen.values()), tuple(chosen)
        allowed = tuple(self._fields[name][0] for name in fields)
        known: set[tuple[type, ...]] = set()

        def make(values: Values) -> R:
            taken = [values[index] for index in picked]
            types = tuple(map(type, taken))
            if types not in known:
                for name, classes, found in zip(fields, allowed, types, strict=True):
                    if classes is not None and not issubclass(found, classes):
                        wanted = " | ".join(each.__name__ for each in classes)
                        raise TypeError(
                            f"{where}: column {name!r} holds {found.__name__}, "
                            f"but the field wants {wanted}"
                        )
                if len(known) >= _MAX_KEPT:
                    known.clear()
                known.add(types)
            made: R = rows(**dict(zip(fields, taken, strict=True)))
            return made

        return make


def _fields_of(rows: Any) -> dict[str, tuple[tuple[type, ...] | None, bool]] | None:
    """Return for each field the classes of its values and whether it is needed.

    None: the type declares no fields. Raises: TypeError.
    """
    if rows is dict or rows is tuple:
        return None
    if is_typeddict(rows):
        hints = get_type_hints(rows)
        return {name: (_classes(hints[name]), name in rows.__required_keys__) for name in hints}
    is_record = isinstance(rows, type) and (
        is_dataclass(rows)
        or hasattr(rows, "__struct_fields__")
        or (issubclass(rows, tuple) and hasattr(rows, "_fields"))
    )
    if not is_record:
        raise TypeError(f"rows is {rows!r:.80}; it must be {_WANTED}")
    hints = get_type_hints(rows)
    return {
        name: (_classes(hints.get(name, Any)), parameter.default is Parameter.empty)
        for name, parameter in signature(rows).parameters.items()
    }


def _classes(hint: Any) -> tuple[type, ...] | None:
    """Return the classes of the values that an annotation allows; None if it is not known."""
    origin = get_origin(hint)
    if origin is Annotated:
        return _classes(get_args(hint)[0])
    if origin is Literal:
        return tuple({type(each) for each in get_args(hint)})
    if origin in (Union, UnionType):
        members = [_classes(each) for each in get_args(hint)]
        if None in members:
            return None
        return tuple(each for member in members for each in member or ())
    if hint is None:
        return (NoneType,)
    if hint is float:
        return float, int  # as type checkers allow
    found = origin or hint
    return (found,) if isinstance(found, type) and found is not object else None
