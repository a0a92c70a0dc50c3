"""A strict reader of JSON from untrusted bytes, for every format that carries JSON.

It refuses a BOM, other encodings than UTF-8, lone surrogates, ``NaN`` and ``Infinity``, repeated
members, and anything after the value. Nesting is limited before it is followed. Numbers stay text
(``Number``): their reader checks the length first. Every value keeps its place in the bytes.

Positions are byte offsets in the whole ``data``. ``JsonRules`` has the clauses of errors.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from cdcwire.core.errors import DecodeError, TruncatedError
from cdcwire.core.json_strings import ESCAPED, ESCAPES, USUAL_ESCAPE, USUAL_STRING, as_go, is_begun
from cdcwire.core.lazy_items import LazyItems
from cdcwire.core.limits import check_json_values


@dataclass(frozen=True, slots=True)
class JsonRules:
    """The clauses that errors name, and what the format allows.

    ``may_repeat``: members of the outermost object that may be repeated; the last one counts.
    ``max_name_bytes``: the longest name of a member, in UTF-8; with None there is no limit.
    ``lazy``: members of the outermost object whose arrays read their items again each time.
    ``replaces_ill_formed``: each byte that is not UTF-8 is read as U+FFFD, as Go does.
    """

    text_clause: str
    string_clause: str
    limits_clause: str
    max_depth: int = 64
    max_name_bytes: int | None = None
    may_repeat: frozenset[str] = frozenset()
    lazy: frozenset[str] = frozenset()
    replaces_ill_formed: bool = False


class Number(NamedTuple):
    """A number as its text, so that nothing is rounded and no sign of zero is lost."""

    text: str

    @property
    def is_integer(self) -> bool:
        """True if it is written without fraction and exponent. ``1.0`` and ``1e2`` are not."""
        return self.text.isdigit() or self.text[1:].isdigit()

    @property
    def digits(self) -> int:
        """How long an integer is, without its sign: to be checked before ``int(number.text)``."""
        return len(self.text) - self.text.startswith("-")


class JsonArray(NamedTuple):
    """The items of an array; item ``i`` is from ``places[2 * i]`` to ``places[2 * i + 1]``."""

    items: Sequence[JsonValue]
    places: array[int]


class Member(NamedTuple):
    """One member: its name from ``name_start``, its value from ``start`` to ``end``."""

    name: str
    value: JsonValue
    name_start: int
    start: int
    end: int


class JsonObject(NamedTuple):
    """The members of an object in the order of the text, and the last one of each name.

    Names differ, unless rules say so.
    """

    members: tuple[Member, ...]
    by_name: Mapping[str, Member]

    def get(self, name: str) -> Member | None:
        """Return the last member of this name."""
        return self.by_name.get(name)


JsonValue: TypeAlias = "bool | str | Number | JsonArray | JsonObject | None"


@dataclass(frozen=True, slots=True)
class Document:
    """The one value of a text, from ``start`` to ``end``; white space around it is outside."""

    value: JsonValue
    start: int
    end: int


def read_json(data: bytes, rules: JsonRules, start: int = 0, end: int | None = None) -> Document:
    """Return the one value in ``data[start:end]``.

    Raises: TruncatedError where the text ends before its value does; DecodeError.
    """
    stop = len(data) if end is None else end
    check_json_values(data, start, stop, rules.limits_clause)
    return _Parser(data, rules, start, stop).document()


def read_json_value(
    data: bytes, rules: JsonRules, start: int = 0, end: int | None = None
) -> Document:
    """Return the value that begins at ``start``, whatever follows it.

    Raises: TruncatedError where the text ends before the value does; DecodeError.
    """
    stop = len(data) if end is None else end
    check_json_values(data, start, stop, rules.limits_clause)
    parser = _Parser(data, rules, start, stop)
    value = parser.value()
    return Document(value, start, parser.offset)


def json_kind(value: JsonValue) -> str:
    """Return what a value is, for messages: "a string", "null"."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return "a string"
        case Number():
            return "a number"
        case JsonArray():
            return "an array"
        case JsonObject():
            return "an object"


_SPACES = frozenset(b" \t\n\r")
_SPACE = re.compile(rb"[ \t\n\r]*")
_PLAIN = re.compile(rb'[^"\\\x00-\x1f]*')
_NUMBER = re.compile(rb"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
# In one step: a string, number or literal in ASCII without escapes, with what follows it.
_TEXT = rb'"([ !#-[\]-\x7f]*)"'
_SCALAR = (
    rb"(?:" + _TEXT + rb"|(-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)"
    rb"|(true|false|null))[ \t\n\r]*"
)
_ITEM = re.compile(_SCALAR + rb"(?:,[ \t\n\r]*(?=[^ \t\n\r\]])|(?=\]))")
# The name of a member, and the whole member if its value is such a scalar.
_MEMBER = re.compile(
    _TEXT + rb"[ \t\n\r]*:[ \t\n\r]*(?=[^ \t\n\r])"
    rb"(?:" + _SCALAR + rb'(?:,[ \t\n\r]*(?=")|(?=\})))?'
)
_IS_TEXT, _IS_NUMBER = 2, 3  # the last group that takes part in a match
_INTEGER_GOES_ON = re.compile(rb"\.|[eE][+-]?")
_FRACTION_GOES_ON = re.compile(rb"[eE][+-]?")
_HEX = re.compile(rb"[0-9a-fA-F]{4}")
_LITERALS: tuple[tuple[bytes, bool | None], ...] = (
    (b"true", True),
    (b"false", False),
    (b"null", None),
)
_VALUES: dict[bytes | None, bool | None] = dict(_LITERALS)
_QUOTE, _BACKSLASH, _COMMA, _COLON = b'"\\,:'
_OPEN_BRACE, _CLOSE_BRACE, _OPEN_BRACKET, _CLOSE_BRACKET = b"{}[]"
_NUMBER_STARTS = frozenset(b"-0123456789")
_SHOWN = 40


_new = tuple.__new__  # of a named tuple, without the call of its own ``__new__``


class _Parser:
    """A cursor over the text. Recursion goes as deep as the limit of the rules."""

    __slots__ = ("data", "depth", "end", "offset", "rules")

    def __init__(self, data: bytes, rules: JsonRules, start: int, end: int) -> None:
        self.data = data
        self.rules = rules
        self.offset = start
        self.end = end
        self.depth = 0

    def document(self) -> Document:
        if self.data.startswith(b"\xef\xbb\xbf", self.offset, self.end):
            raise self.error("the text begins with a byte order mark")
        self.skip_space()
        start = self.offset
        value = self.value()
        stop = self.offset
        self.skip_space()
        if self.offset < self.end:
            raise self.error("more bytes follow the value")
        return Document(value, start, stop)

    def value(self) -> JsonValue:
        byte = self.peek()
        if byte == _QUOTE:
            return self.string()
        if byte == _OPEN_BRACE:
            return self.object()
        if byte in _NUMBER_STARTS:
            return self.number()
        if byte == _OPEN_BRACKET:
            return self.array()
        for literal, value in _LITERALS:
            if self.data.startswith(literal, self.offset, self.end):
                self.offset += len(literal)
                return value
            if literal.startswith(self.data[self.offset : min(self.end, self.offset + 5)]):
                self.offset = self.end
        raise self.unexpected("a value")

    def object(self) -> JsonObject:
        self.enter()
        data, end, limit, lazy = self.data, self.end, self.rules.max_name_bytes, self.rules.lazy
        members: list[Member] = []
        known: dict[str, Member] = {}
        value: JsonValue
        more = self.first_byte() != _CLOSE_BRACE
        while more:
            name_start = self.offset
            found = _MEMBER.match(data, name_start, end)
            if found is None:
                name = self.name(known)
            else:
                name = found[1].decode()
                if name in known or (limit is not None and len(name) > limit):
                    self.check_name(name, name_start, known)
                self.offset = found.end()
            if found is None or found.lastindex == 1:
                start = self.offset
                is_lazy = name in lazy and self.depth == 1 and self.peek() == _OPEN_BRACKET
                try:
                    value = self.lazy_array() if is_lazy else self.value()
                except DecodeError as error:
                    error.path = (name, *error.path)
                    raise
                stop = self.offset
                more = self.goes_on(_CLOSE_BRACE, "',' or '}'")
            else:
                kind = found.lastindex
                if kind == _IS_NUMBER:
                    value = _new(Number, (found[3].decode(),))
                    start, stop = found.span(3)
                elif kind == _IS_TEXT:
                    value = found[2].decode()
                    start, stop = found.start(2) - 1, found.end(2) + 1
                else:
                    value = _VALUES[found[4]]
                    start, stop = found.span(4)
                more = data[self.offset] != _CLOSE_BRACE
            known[name] = member = _new(Member, (name, value, name_start, start, stop))
            members.append(member)
        self.offset += 1
        self.depth -= 1
        return _new(JsonObject, (tuple(members), known))

    def name(self, known: Container[str]) -> str:
        """Read any name, and move to the value of the member."""
        if self.peek() != _QUOTE:
            raise self.unexpected("the name of a member")
        start = self.offset
        name = self.string()
        self.check_name(name, start, known)
        self.skip_space()
        try:
            if self.peek() != _COLON:
                raise self.unexpected("':'")
            self.first_byte()
        except DecodeError as error:
            error.path = (name, *error.path)
            raise
        return name

    def check_name(self, name: str, start: int, known: Container[str]) -> None:
        limit = self.rules.max_name_bytes
        if limit is not None and (len(name) > limit or len(name.encode()) > limit):
            problem = f"a name has more than {limit} bytes"
            raise DecodeError(problem, start, self.rules.limits_clause)
        if name in known and not (self.depth == 1 and name in self.rules.may_repeat):
            problem = f"member {name!r:.{_SHOWN}} appears twice"
            raise DecodeError(problem, start, self.rules.text_clause, (name,))

    def array(self) -> JsonArray:
        self.enter()
        data, end = self.data, self.end
        items: list[JsonValue] = []
        places = array("q")
        value: JsonValue
        more = self.first_byte() != _CLOSE_BRACKET
        while more:
            start = self.offset
            found = _ITEM.match(data, start, end)
            if found is None:
                try:
                    value = self.value()
                except DecodeError as error:
                    error.path = (len(items), *error.path)
                    raise
                stop = self.offset
                more = self.goes_on(_CLOSE_BRACKET, "',' or ']'")
            else:
                text, number, literal = found.groups()
                if number is not None:
                    value = _new(Number, (number.decode(),))
                    stop = found.end(2)
                elif text is not None:
                    value = text.decode()
                    stop = found.end(1) + 1
                else:
                    value = _VALUES[literal]
                    stop = found.end(3)
                self.offset = found.end()
                more = data[self.offset] != _CLOSE_BRACKET
            items.append(value)
            places.append(start)
            places.append(stop)
        self.offset += 1
        self.depth -= 1
        return _new(JsonArray, (tuple(items), places))

    def lazy_array(self) -> JsonArray:
        """Read an array, and keep only the places of its items."""
        self.enter()
        places = array("q")
        more = self.first_byte() != _CLOSE_BRACKET
        while more:
            places.append(self.offset)
            try:
                self.value()
            except DecodeError as error:
                error.path = (len(places) // 2, *error.path)
                raise
            places.append(self.offset)
            more = self.goes_on(_CLOSE_BRACKET, "',' or ']'")
        depth = self.depth

        def read(index: int) -> JsonValue:
            parser = _Parser(self.data, self.rules, *places[2 * index : 2 * index + 2])
            parser.depth = depth
            return parser.value()

        self.offset += 1
        self.depth -= 1
        return JsonArray(LazyItems(len(places) // 2, read), places)

    def string(self) -> str:
        """Read a string; the cursor is on its first quote."""
        start = self.offset + 1
        stop = self.plain_end(start)
        if stop < self.end and self.data[stop] == _QUOTE:
            self.offset = stop + 1
            return self.utf8(start, stop)
        usual = USUAL_STRING.match(self.data, start, self.end)
        if usual is not None:
            self.offset = usual.end()
            parts = USUAL_ESCAPE.split(self.utf8(start, usual.end() - 1))
            parts[1::2] = [ESCAPED.get(part) or chr(int(part[1:], 16)) for part in parts[1::2]]
            return "".join(parts)
        pieces: list[str] = []
        while True:
            if start < stop:
                pieces.append(self.utf8(start, stop))
            self.offset = stop
            byte = self.peek()
            if byte == _QUOTE:
                self.offset += 1
                return "".join(pieces)
            if byte != _BACKSLASH:
                problem = f"a string has the raw control character 0x{byte:02x}"
                raise DecodeError(problem, stop, self.rules.string_clause)
            pieces.append(self.escape())
            start = self.offset
            stop = self.plain_end(start)

    def plain_end(self, start: int) -> int:
        found = _PLAIN.match(self.data, start, self.end)
        return found.end() if found else start

    def utf8(self, start: int, stop: int) -> str:
        try:
            return self.data[start:stop].decode()
        except UnicodeDecodeError as error:
            offset = start + error.start
            if stop == self.end and is_begun(self.data[offset:stop]):
                self.offset = stop
                raise self.unexpected("the rest of a character") from None
            if self.rules.replaces_ill_formed:
                return as_go(self.data[start:stop])
            shown = f"0x{self.data[offset]:02x} does not begin a character"
            problem = f"the string is not UTF-8: {shown}"
            raise DecodeError(problem, offset, self.rules.string_clause) from None

    def escape(self) -> str:
        """Read one escape, or a pair of them that is one character."""
        start = self.offset
        self.offset += 1
        byte = self.peek()
        self.offset += 1
        if byte in ESCAPES:
            return ESCAPES[byte]
        if byte != ord("u"):
            problem = f"invalid escape: a backslash before 0x{byte:02x}"
            raise DecodeError(problem, start, self.rules.string_clause)
        code = self.hex_digits(start)
        if not 0xD800 <= code < 0xE000:
            return chr(code)
        if code < 0xDC00 and self.peek() == _BACKSLASH:
            self.offset += 1
            if self.peek() == ord("u"):
                self.offset += 1
                low = self.hex_digits(start)
                if 0xDC00 <= low < 0xE000:
                    return chr(0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00))
        problem = f"unpaired surrogate \\u{code:04x}"
        raise DecodeError(problem, start, self.rules.string_clause)

    def hex_digits(self, start: int) -> int:
        found = _HEX.match(self.data, self.offset, self.end)
        if found is None:
            if self.end - self.offset < 4:
                raise TruncatedError(
                    "the bytes end in an escape", self.end, self.rules.string_clause
                )
            raise DecodeError(
                "\\u is not followed by four hex digits", start, self.rules.string_clause
            )
        self.offset = found.end()
        return int(found.group(), 16)

    def number(self) -> Number:
        found = _NUMBER.match(self.data, self.offset, self.end)
        if found is None:
            self.offset += 1  # past the sign
            raise self.unexpected("a digit")
        self.offset = found.end()
        text = found.group().decode("ascii")
        goes_on = _INTEGER_GOES_ON if found.group(1) is None else _FRACTION_GOES_ON
        begun = goes_on.match(self.data, self.offset, self.end)
        if begun is not None and found.group(2) is None:
            self.offset = begun.end()
            raise self.unexpected("a digit")
        return Number(text)

    def enter(self) -> None:
        self.depth += 1
        if self.depth > self.rules.max_depth:
            problem = f"values are nested deeper than {self.rules.max_depth}"
            raise DecodeError(problem, self.offset, self.rules.limits_clause)

    def first_byte(self) -> int:
        """Move past one byte and the white space after it; return the byte there."""
        self.offset += 1
        byte = self.peek()
        if byte not in _SPACES:
            return byte
        self.skip_space()
        return self.peek()

    def goes_on(self, close: int, expected: str) -> bool:
        """Stop on the closing byte, or move past a comma to what follows it."""
        byte = self.peek()
        if byte in _SPACES:
            self.skip_space()
            byte = self.peek()
        if byte == _COMMA:
            self.first_byte()
            return True
        if byte != close:
            raise self.unexpected(expected)
        return False

    def skip_space(self) -> None:
        if self.offset < self.end and self.data[self.offset] in _SPACES:
            found = _SPACE.match(self.data, self.offset, self.end)
            assert found is not None
            self.offset = found.end()

    def peek(self) -> int:
        if self.offset >= self.end:
            raise self.unexpected("more")
        return self.data[self.offset]

    def error(self, problem: str) -> DecodeError:
        return DecodeError(problem, self.offset, self.rules.text_clause)

    def unexpected(self, expected: str) -> DecodeError:
        if self.offset >= self.end:
            problem = f"expected {expected}, but the text ends here"
            return TruncatedError(problem, self.end, self.rules.text_clause)
        found = self.data[self.offset : self.offset + 1]
        return self.error(f"expected {expected}, found {found!r}")
