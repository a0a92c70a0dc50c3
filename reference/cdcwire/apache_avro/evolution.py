"""Schema evolution: what a registry under BACKWARD says to a new schema of a subject, and why.

BACKWARD asks whether a reader with the new schema can read what was written with the old one.
``compare_schemas`` finds every difference and says of each whether it is accepted. ``DDL_RULES`` is
what this means for the statements that users run, and is proved by that function.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from cdcwire.apache_avro import schema
from cdcwire.core.errors import DecodeError
from cdcwire.model.events import Path
from cdcwire.model.kinds import ABSENT

CLAUSE = "avro: schema evolution"
DecimalRule: TypeAlias = Literal["registry", "specification"]

MAX_DEPTH = 64  # of records that lead to each other
_SHOWN = 8  # branches of a union, in a reason
_PROMOTIONS: dict[str, frozenset[str]] = {
    "int": frozenset({"long", "float", "double"}),
    "long": frozenset({"float", "double"}),
    "float": frozenset({"double"}),
    "string": frozenset({"bytes"}),
    "bytes": frozenset({"string"}),
}


@dataclass(frozen=True, slots=True)
class Change:
    """One difference of two schemas. ``path`` names the field; ``reason`` is for people."""

    path: Path
    reason: str
    is_accepted: bool


@dataclass(frozen=True, slots=True)
class Comparison:
    """The verdict on a new schema. ``is_new_version``: the text is not the old one."""

    changes: tuple[Change, ...]
    is_new_version: bool

    @property
    def is_accepted(self) -> bool:
        """True if the registry accepts every change."""
        return all(change.is_accepted for change in self.changes)

    @property
    def refusals(self) -> tuple[Change, ...]:
        """The changes that the registry rejects."""
        return tuple(change for change in self.changes if not change.is_accepted)


def compare_schemas(old: str, new: str, decimals: DecimalRule = "registry") -> Comparison:
    """Return what BACKWARD says to ``new`` after ``old``, both texts of one subject.

    ``decimals``: the rule for a change of precision or scale. A registry (Apicurio 3.0.9, and those
    that build on Avro's own check) accepts it, Avro's specification does not.
    Raises: DecodeError for a text that is not a schema of a record.
    """
    if old == new:
        return Comparison((), is_new_version=False)
    differences = _Differences(decimals)
    changes = tuple(differences.records(schema.parse_schema(old), schema.parse_schema(new), ()))
    return Comparison(changes, is_new_version=True)


class _Differences:
    """The walk through two schemas, the old one as writer, the new one as reader."""

    def __init__(self, decimals: DecimalRule) -> None:
        self.decimals = decimals
        self.seen: set[tuple[int, int]] = set()
        self.known: dict[tuple[int, int], list[Change]] = {}
        self.depth = 0

    def records(self, old: schema.Record, new: schema.Record, path: Path) -> Iterator[Change]:
        if (id(old), id(new)) in self.seen:
            return
        self.seen.add((id(old), id(new)))
        self.depth += 1
        if self.depth > MAX_DEPTH:
            problem = f"records lead to each other over more than {MAX_DEPTH} steps"
            raise DecodeError(problem, 0, "avro: schema limits", path)
        yield from self._fields(old, new, path)
        self.depth -= 1

    def _fields(self, old: schema.Record, new: schema.Record, path: Path) -> Iterator[Change]:
        if old.name != new.name:
            yield Change(path, f"the record {old.name} is now {new.name}", False)
        elif old.namespace != new.namespace:
            yield Change(path, f"the namespace {old.namespace} is now {new.namespace}", True)
        before = {field.name: field for field in old.fields}
        after = {field.name: field for field in new.fields}
        for name, field in after.items():
            if name in before:
                yield from self.types(before[name].type, field.type, (*path, name))
                yield from _defaults(before[name], field, (*path, name))
            elif field.default is ABSENT:
                reason = "a new field without default: rows written before have no value for it"
                yield Change((*path, name), reason, False)
            else:
                yield Change((*path, name), "a new field with a default", True)
        for name in before:
            if name not in after:
                yield Change((*path, name), "the field is gone: readers ignore it", True)
        common = [name for name in before if name in after]
        if common != [name for name in after if name in before]:
            yield Change(path, "the order of fields differs: they are matched by name", True)

    def types(self, old: schema.AvroType, new: schema.AvroType, path: Path) -> Iterator[Change]:
        old_branches, new_branches = _branches(old), _branches(new)
        if isinstance(old, schema.Union) or isinstance(new, schema.Union):
            yield from self._unions(old, new, path)
            return
        yield from self._one(old_branches[0], new_branches[0], path)

    def _unions(self, old: schema.AvroType, new: schema.AvroType, path: Path) -> Iterator[Change]:
        readers: dict[str, list[schema.AvroType]] = {}
        for branch in _branches(new):
            readers.setdefault(_group(branch), []).append(branch)
        for branch in _branches(old):
            changes = self._to_any(branch, readers.get(_group(branch), []), path)
            if changes is None:
                yield Change(path, _no_branch(branch, new), False)
            else:
                yield from changes
        if any(map(_is_null, _branches(new))) and not any(map(_is_null, _branches(old))):
            yield Change(path, "NULL is possible now", True)
        old_order, new_order = (list(map(_name, _branches(each))) for each in (old, new))
        if old_order != new_order and sorted(old_order) == sorted(new_order):
            yield Change(path, "the order of the union differs", True)

    def _to_any(
        self, old: schema.AvroType, branches: list[schema.AvroType], path: Path
    ) -> list[Change] | None:
        """Return the changes to the branch that takes an old one; None if there is none."""
        for branch in sorted(branches, key=lambda each: _name(each) != _name(old)):
            place = (id(old), id(branch))
            if place not in self.known:
                self.known[place] = list(self._one(old, branch, path))
            if all(change.is_accepted for change in self.known[place]):
                return self.known[place]
        return None

    def _one(self, old: schema.AvroType, new: schema.AvroType, path: Path) -> Iterator[Change]:
        match old, new:
            case schema.Primitive(), schema.Primitive():
                yield from self._primitives(old, new, path)
            case schema.Record(), schema.Record():
                yield from self.records(old, new, path)
            case schema.Array(), schema.Array():
                yield from self.types(old.items, new.items, (*path, "items"))
            case schema.Map(), schema.Map():
                yield from self.types(old.values, new.values, (*path, "values"))
            case schema.Enumeration(), schema.Enumeration():
                gone = sorted(set(old.symbols) - set(new.symbols))
                if old.name != new.name or gone:
                    reason = f"symbols are gone: {', '.join(gone)}" if gone else "another name"
                    yield Change(path, reason, False)
            case schema.Fixed(), schema.Fixed():
                if (old.name, old.size) != (new.name, new.size):
                    yield Change(path, "another name or size", False)
                yield from self._decimals(old.decimal, new.decimal, path)
            case schema.Union(), _:
                yield from self._unions(old, new, path)
            case _:
                yield Change(path, f"{_name(old)} can't be read as {_name(new)}", False)

    def _primitives(
        self, old: schema.Primitive, new: schema.Primitive, path: Path
    ) -> Iterator[Change]:
        if old.name != new.name:
            is_wider = new.name in _PROMOTIONS.get(old.name, ())
            verb = "is read as" if is_wider else "can't be read as"
            yield Change(path, f"{old.name} {verb} {new.name}", is_wider)
            return
        yield from self._decimals(old.decimal, new.decimal, path)
        for name in sorted({*old.parameters, *new.parameters}):
            if old.parameters.get(name) != new.parameters.get(name):
                yield Change(path, f"{name} differs, which registries do not look at", True)

    def _decimals(
        self, old: schema.DecimalSize | None, new: schema.DecimalSize | None, path: Path
    ) -> Iterator[Change]:
        if old == new:
            return
        is_accepted = self.decimals == "registry"
        reason = f"{_decimal(old)} is now {_decimal(new)}"
        yield Change(path, f"{reason}: Avro asks for equal precision and scale", is_accepted)


def _defaults(old: schema.Field, new: schema.Field, path: Path) -> Iterator[Change]:
    if old.default != new.default or (old.default is ABSENT) != (new.default is ABSENT):
        yield Change(path, "the default differs", True)


def _no_branch(old: schema.AvroType, new: schema.AvroType) -> str:
    if _is_null(old):
        return "NULL is not possible any more: rows written before may have it"
    names = list(map(_name, _branches(new)[:_SHOWN]))
    return f"{_name(old)} can't be read as {' or '.join(names)}"


def _branches(kind: schema.AvroType) -> tuple[schema.AvroType, ...]:
    return kind.branches if isinstance(kind, schema.Union) else (kind,)


def _is_null(kind: schema.AvroType) -> bool:
    return isinstance(kind, schema.Primitive) and kind.name == "null"


def _name(kind: schema.AvroType) -> str:
    match kind:
        case schema.Primitive(name) | schema.Fixed(name) | schema.Enumeration(name):
            return name
        case schema.Record(name, namespace):
            return f"{namespace}.{name}" if namespace else name
        case _:
            return type(kind).__name__.lower()


def _group(kind: schema.AvroType) -> str:
    """Return what two types must share for one to be read as the other."""
    match kind:
        case schema.Fixed(name) | schema.Enumeration(name):
            return f"{type(kind).__name__} {name.rpartition('.')[2]}"
        case schema.Record(name):
            return f"Record {name}"
        case _:
            return type(kind).__name__


def _decimal(size: schema.DecimalSize | None) -> str:
    return f"decimal({size.precision},{size.scale})" if size is not None else "no decimal"


@dataclass(frozen=True, slots=True)
class DdlRule:
    """The verdict of BACKWARD on a statement. ``is_new_version`` False: the text stays the same."""

    statement: str
    schema_change: str
    is_accepted: bool
    is_new_version: bool = True
    was_run: bool = True


# Run with the producer's own texts against Apicurio Registry 3.0.9, unless said otherwise.
DDL_RULES: tuple[DdlRule, ...] = (
    DdlRule("ADD COLUMN nullable", "a new field with default null", True),
    DdlRule("ADD COLUMN NOT NULL DEFAULT x", "a new field with a default", True),
    DdlRule("ADD COLUMN NOT NULL", "a new field without default", False),
    DdlRule(
        "ADD COLUMN DECIMAL NOT NULL DEFAULT x, mode precise",
        "a new field, whose default is left out",
        False,
    ),
    DdlRule("DROP COLUMN", "a field is gone", True),
    DdlRule("MODIFY COLUMN INT to BIGINT", "int to long", True),
    DdlRule("MODIFY COLUMN nullable to NOT NULL", "a union to its other type", False),
    DdlRule(
        "RENAME COLUMN that is nullable or has a default",
        "a field is gone, one with a default comes",
        True,
    ),
    DdlRule(
        "RENAME COLUMN that is NOT NULL without default",
        "a field is gone, one without default comes",
        False,
        was_run=False,
    ),
    DdlRule("ADD COLUMN AFTER or FIRST", "another order of fields", True),
    DdlRule("ADD INDEX", "none", True, is_new_version=False),
    DdlRule("MODIFY COLUMN ENUM('a') to ENUM('a','b')", "another allowed", True),
    DdlRule("MODIFY COLUMN DECIMAL(10,2) to DECIMAL(12,2)", "another precision", True),
)
