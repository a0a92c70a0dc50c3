"""JSON objects that classes declare: each field of a class is a member of the object.

A field says what its member holds, which clause says so, and which part of an event it gives. This
one declaration reads, writes and explains an object; members that no field names are unknown.

    class Query:  # a frozen dataclass
        sql: str = member(TEXT, "page: queries", part("query"))

    Query(**record_of(Query).read(found, end, data))

Members may be in any order; they are written in the order of the fields. A missing member is an
error at the closing brace of its object, a wrong value is one where it begins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import MISSING, dataclass, field, fields, replace
from typing import Any, Generic, TypeAlias, TypeVar

from cdcwire.core.errors import DecodeError, EncodeError, step
from cdcwire.core.explanation import Spans, json_text, with_instant
from cdcwire.core.reader import EventPart, Subject
from cdcwire.core.strict_json import (
    Document,
    JsonArray,
    JsonObject,
    JsonRules,
    JsonValue,
    Member,
    Number,
    json_kind,
)
from cdcwire.model.events import Path, Step

T = TypeVar("T")
Quote: TypeAlias = "Callable[[str], str]"  # a string as the producer writes it, with its quotes
Unknown: TypeAlias = "tuple[tuple[str, str], ...]"  # name, JSON text

_UNKNOWN_NOTE = "unknown, ignored"
_SHORT = 20  # a number with fewer digits is within every limit
_TWICE = "a column is duplicated"


def _unwritten(value: object, clause: str, quoted: Quote) -> str:
    raise AssertionError("a record does not write this member")


@dataclass(frozen=True, slots=True)
class Form(Generic[T]):
    """The kinds of values that a member may hold.

    ``read``: returns the value of a member, given all bytes and the clause of its errors, whose
    paths begin below the member. ``write``: returns the JSON text, given that clause and how
    strings are written; left out if the format writes the member by itself. ``shown``: the value
    for people. Raises: DecodeError, EncodeError.
    """

    read: Callable[[Member, bytes, str], T]
    write: Callable[[T, str, Quote], str] = _unwritten
    shown: Callable[[JsonValue], str] = json_text


@dataclass(frozen=True, slots=True)
class Declared:
    """A member as a field declares it. See ``member``."""

    name: str
    field: str
    form: Form[Any]
    clause: str
    subject: Subject | None
    default: Any
    null: str | None
    always: bool
    required: bool


def member(
    form: Form[T],
    clause: str,
    subject: Subject | None = None,
    *,
    name: str = "",
    default: Any = MISSING,
    null: str | None = None,
    always: bool = False,
    required: bool = False,
) -> Any:
    """Declare a field as a member. ``name``: by default that of the field.

    With a ``default`` the member may be missing, and it is left out where it has this value.
    ``always``: it is not left out, and None is written as null. ``required``: nor may it be
    missing; the default is that of the field alone. ``null``: the field that says whether the
    member was null; "" if null means the same as a missing member.
    """
    required = required or default is MISSING
    about = (name, form, clause, subject, default, null, always or required, required)
    metadata = {"declared": about}
    if default is MISSING:
        return field(metadata=metadata)
    return field(default=default, metadata=metadata)


def unknown_members(clause: str) -> Any:
    """Declare the field that keeps the members without a field, as names and JSON texts."""
    return field(default=(), metadata={"unknown": clause})


def extra(name: str) -> Subject:
    """Return the subject of a member of ``extra``."""
    return Subject(0, ("extra",), name)


def part(*parts: EventPart) -> Subject:
    """Return the subject of parts of an event."""
    return Subject(0, parts)


@dataclass(frozen=True, slots=True)
class Record:
    """The members of an object in the order of writing, and by name.

    ``unknown``: the field of all other members, and their clause; "" if they are dropped.
    ``members`` has None in its place.
    """

    members: tuple[Declared | None, ...]
    by_name: Mapping[str, Declared]
    unknown: str
    unknown_clause: str
    # What reading and writing need of each member, in one tuple for speed.
    _reads: tuple[tuple[Any, ...], ...] = field(init=False, repr=False, compare=False)
    _writes: tuple[tuple[Any, ...], ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        reads = tuple(
            (each.name, each.field, each.form.read, each.clause, each.null, each.required)
            for each in self.by_name.values()
        )
        writes = tuple(
            ("", self.unknown, None, "", None, None, False)
            if it is None
            else (it.name, it.field, it.form.write, it.clause, it.default, it.null, it.always)
            for it in self.members
        )
        object.__setattr__(self, "_reads", reads)
        object.__setattr__(self, "_writes", writes)

    @property
    def required(self) -> Set[str]:
        """The names of the members that every such object has."""
        return {name for name, each in self.by_name.items() if each.required}

    def read(self, found: JsonObject, end: int, data: bytes) -> dict[str, Any]:
        """Return the fields of an object that ends at ``end`` of ``data``. Raises: DecodeError."""
        known = found.by_name
        values: dict[str, Any] = {}
        name = ""
        try:
            for name, field_, read, clause, null, required in self._reads:
                given = known.get(name)
                if given is None:
                    if required:
                        raise self.missing(name, end)
                elif null is not None and given.value is None:
                    if null:
                        values[null] = True
                else:
                    values[field_] = read(given, data, clause)
        except DecodeError as error:
            error.path = (name, *error.path)
            raise
        if self.unknown:
            values[self.unknown] = tuple(
                (given.name, data[given.start : given.end].decode())
                for given in found.members
                if given.name not in self.by_name
            )
        return values

    def one(self, name: str, found: JsonObject, end: int, data: bytes) -> Any:
        """Return the value of one member. Raises: DecodeError, also if it is missing."""
        each, given = self.by_name[name], found.by_name.get(name)
        with step(name):
            if given is None:
                raise self.missing(name, end)
            return each.form.read(given, data, each.clause)

    def missing(self, name: str, end: int) -> DecodeError:
        """Return the error of an object that lacks a member; the path is that of the object."""
        return DecodeError(f"member {name!r} is missing", end - 1, self.by_name[name].clause)

    def write(self, value: object, quoted: Quote) -> dict[str, str]:
        """Return the members as JSON texts. Raises: EncodeError."""
        texts: dict[str, str] = {}
        name = ""
        try:
            for name, field_, write, clause, default, null, always in self._writes:
                held = getattr(value, field_)
                if write is None:
                    self._write_unknown(held, texts)
                elif held is None and always:
                    texts[name] = "null"
                elif always or held != default:
                    texts[name] = write(held, clause, quoted)
                elif null and getattr(value, null):
                    texts[name] = "null"
        except EncodeError as error:
            error.path = (name, *error.path) if name else error.path
            raise
        return texts

    def _write_unknown(self, unknown: Unknown, texts: dict[str, str]) -> None:
        for name, text in unknown:
            if name in texts or name in self.by_name:
                raise EncodeError("the member is duplicated", self.unknown_clause, (name,))
            texts[name] = text

    def without(self, name: str) -> Record:
        """Return the record in which a member is unknown."""
        members = tuple(each for each in self.members if each is None or each.name != name)
        by_name = {each.name: each for each in members if each is not None}
        return replace(self, members=members, by_name=by_name)

    def add(self, spans: Spans, given: Member, path: Path = (), event: int | None = 0) -> None:
        """Add the span of a member with one value. ``event``: see ``Subject``."""
        known = self.by_name.get(given.name)
        path, value = (*path, given.name), given.value
        if known is None:
            spans.add(given.end, path, json_text(value), self.unknown_clause, _UNKNOWN_NOTE)
        else:
            text, subject = known.form.shown(value), known.subject
            if subject is not None and event != 0:
                subject = replace(subject, event=event)
            spans.add(given.end, path, text, known.clause, value=value, subject=subject)


def record_of(declared: type[Any], clause: str = "") -> Record:
    """Return the members that the fields of a class declare.

    ``clause``: of other members, if no field keeps them.
    """
    members: list[Declared | None] = []
    unknown = ""
    for each in fields(declared):
        if "declared" in each.metadata:
            name, *about = each.metadata["declared"]
            members.append(Declared(name or each.name, each.name, *about))
        elif "unknown" in each.metadata:
            unknown, clause = each.name, each.metadata["unknown"]
            members.append(None)
    by_name = {each.name: each for each in members if each is not None}
    return Record(tuple(members), by_name, unknown, clause)


def add_members(
    spans: Spans, given: Member, path: Path, clause: str, record: Record, event: int | None = 0
) -> None:
    """Add the spans of an object whose members have one value each."""
    members = expect_object(given, clause).members
    spans.add(given.start + 1, path, f"{len(members)} members", clause)
    for each in members:
        record.add(spans, each, path, event)
    spans.add(given.end, path, "end", clause)


def add_parts(
    spans: Spans, given: Member, path: Path, clause: str, subject: Subject | None = None
) -> None:
    """Add the spans of a value and, in an array or object, of all that is in it."""
    found = given.value
    inner: list[tuple[Step, Member]]
    if isinstance(found, JsonObject) and found.members:
        about = f"{len(found.members)} members"
        inner = [(each.name, each) for each in found.members]
    elif isinstance(found, JsonArray) and found.items:
        about = f"{len(found.items)} items"
        inner = [*enumerate(items_of(found))]
    else:
        spans.add(given.end, path, json_text(found), clause, value=found, subject=subject)
        return
    spans.add(given.start + 1, path, about, clause, subject=subject)
    for name, each in inner:
        add_parts(spans, each, (*path, name), clause, subject)
    spans.add(given.end, path, "end", clause)


def object_text(texts: Mapping[str, str], quoted: Quote) -> str:
    """Return an object of members that are JSON texts already."""
    members = [
        f'"{name}":{text}' if name.isidentifier() and name.isascii() else f"{quoted(name)}:{text}"
        for name, text in texts.items()
    ]
    return f"{{{','.join(members)}}}"


def wrong(value: JsonValue, wanted: str, start: int, clause: str) -> DecodeError:
    """Return the error of a value of another kind."""
    return DecodeError(f"{json_kind(value)} instead of {wanted}", start, clause)


def expect_object(given: Member, clause: str) -> JsonObject:
    """Return the object that a member holds. Raises: DecodeError."""
    if not isinstance(given.value, JsonObject):
        raise wrong(given.value, "an object", given.start, clause)
    return given.value


def expect_array(given: Member, clause: str) -> JsonArray:
    """Return the array that a member holds. Raises: DecodeError."""
    if not isinstance(given.value, JsonArray):
        raise wrong(given.value, "an array", given.start, clause)
    return given.value


def whole_of(document: Document) -> Member:
    """Return the one value of a text as a member without name."""
    return Member("", document.value, document.start, document.start, document.end)


def items_of(found: JsonArray) -> Iterator[Member]:
    """Yield the items of an array as members without name."""
    places = iter(found.places)
    for value, start, end in zip(found.items, places, places, strict=True):
        yield Member("", value, start, start, end)


def _read_flag(given: Member, data: bytes, clause: str) -> bool:
    if not isinstance(given.value, bool):
        raise wrong(given.value, "true or false", given.start, clause)
    return given.value


FLAG: Form[bool] = Form(_read_flag, lambda flag, clause, quoted: "true" if flag else "false")


def nested(declared: type[T]) -> Form[T]:
    """Return the form of an object that a class declares."""
    about = record_of(declared)

    def read(given: Member, data: bytes, clause: str) -> T:
        return declared(**about.read(expect_object(given, clause), given.end, data))

    def write(value: T, clause: str, quoted: Quote) -> str:
        return object_text(about.write(value, quoted), quoted)

    return Form(read, write)


def array_of(item: Form[T], *, unique: bool = False) -> Form[tuple[T, ...]]:
    """Return the form of an array. ``unique``: no item may come twice."""

    def read(given: Member, data: bytes, clause: str) -> tuple[T, ...]:
        array = expect_array(given, clause)
        found: list[T] = []
        try:
            for each in items_of(array):
                found.append(item.read(each, data, clause))
        except DecodeError as error:
            error.path = (len(found), *error.path)
            raise
        if unique and len(set(found)) < len(found):
            raise DecodeError(_TWICE, given.start, clause)
        return tuple(found)

    def write(items: tuple[T, ...], clause: str, quoted: Quote) -> str:
        if unique and len(set(items)) < len(items):
            raise EncodeError(_TWICE, clause)
        texts: list[str] = []
        try:
            for each in items:
                texts.append(item.write(each, clause, quoted))
        except EncodeError as error:
            error.path = (len(texts), *error.path)
            raise
        return f"[{','.join(texts)}]"

    return Form(read, write)


@dataclass(frozen=True, slots=True)
class JsonForms:
    """The forms of texts and numbers in one format. ``max_digits``: of a number."""

    rules: JsonRules
    max_digits: int = 20  # of 2**64 - 1

    @property
    def text(self) -> Form[str]:
        """Strings."""
        return Form(self.read_text, self.write_text)

    @property
    def name(self) -> Form[str]:
        """Names of schemas, tables and columns: as long as the rules allow."""
        return Form(self.read_name, self.write_name)

    @property
    def number(self) -> Form[Number]:
        """Numbers as they are written."""
        return Form(self.read_number, lambda number, clause, quoted: number.text)

    def integer(self, low: int, high: int, ms_of: Callable[[int], int] | None = None) -> Form[int]:
        """Integers from ``low`` up to ``high - 1``.

        ``ms_of``: for those that are times, milliseconds since 1970.
        """

        def read(given: Member, data: bytes, clause: str) -> int:
            value = given.value
            if isinstance(value, Number) and value.text.isdigit() and len(value.text) < _SHORT:
                number = int(value.text)
            else:
                number = self.integer_of(value, given.start, clause)
            if not low <= number < high:
                problem = f"{number} is outside {low} to {high - 1}"
                raise DecodeError(problem, given.start, clause)
            return number

        def write(number: int, clause: str, quoted: Quote) -> str:
            if type(number) is not int or not low <= number < high:
                problem = f"{number!r:.40} is not an integer in {low} to {high - 1}"
                raise EncodeError(problem, clause)
            return str(number)

        def text(value: JsonValue) -> str:
            if ms_of is None or not isinstance(value, Number) or not value.is_integer:
                return json_text(value)
            if value.digits > self.max_digits:
                return value.text
            return with_instant(value.text, ms_of(int(value.text)))

        return Form(read, write, text)

    def read_text(self, given: Member, data: bytes, clause: str) -> str:
        """Return a string. Raises: DecodeError."""
        if not isinstance(given.value, str):
            raise wrong(given.value, "a string", given.start, clause)
        return given.value

    def write_text(self, text: str, clause: str, quoted: Quote) -> str:
        """Return the JSON of a string. Raises: EncodeError for a lone surrogate."""
        if not isinstance(text, str):
            raise EncodeError(f"{text!r:.40} is not text", clause)
        try:
            text.encode()
        except UnicodeEncodeError as error:
            problem = f"unpaired surrogate U+{ord(text[error.start]):04X}"
            raise EncodeError(problem, self.rules.string_clause) from None
        return quoted(text)

    def read_name(self, given: Member, data: bytes, clause: str) -> str:
        """Return a name. Raises: DecodeError."""
        name = self.read_text(given, data, clause)
        if self.is_too_long(name):
            raise DecodeError(self._too_long, given.start, self.rules.limits_clause)
        return name

    def write_name(self, name: str, clause: str, quoted: Quote) -> str:
        """Return the JSON of a name. Raises: EncodeError."""
        text = self.write_text(name, clause, quoted)
        if self.is_too_long(name):
            raise EncodeError(self._too_long, self.rules.limits_clause)
        return text

    def is_too_long(self, name: str) -> bool:
        """Return whether a name has more bytes than the rules allow."""
        limit = self.rules.max_name_bytes
        return limit is not None and (len(name) > limit or len(name.encode()) > limit)

    @property
    def _too_long(self) -> str:
        return f"a name has more than {self.rules.max_name_bytes} bytes"

    def read_number(self, given: Member, data: bytes, clause: str) -> Number:
        """Return a number. Raises: DecodeError."""
        return self.number_of(given.value, given.start, clause)

    def number_of(self, value: JsonValue, start: int, clause: str) -> Number:
        """Return the number that a value at ``start`` is, if it is not too long.

        Raises: DecodeError.
        """
        if not isinstance(value, Number):
            raise wrong(value, "a number", start, clause)
        if value.digits > self.max_digits:
            problem = f"a number has {value.digits} characters; the limit is {self.max_digits}"
            raise DecodeError(problem, start, self.rules.limits_clause)
        return value

    def integer_of(self, value: JsonValue, start: int, clause: str) -> int:
        """Return the integer that a value at ``start`` is. Raises: DecodeError."""
        number = self.number_of(value, start, clause)
        if not number.is_integer:
            problem = f"the integer {number.text:.40} has a fraction or an exponent"
            raise DecodeError(problem, start, clause)
        return int(number.text)
