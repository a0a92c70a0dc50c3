"""Options: the producer's settings that the bytes do not show, declared once.

A settings dataclass declares an option with each field: its name, default, help and, by the
field's type, its allowed values. ``options_of`` lists the options, ``read_settings`` parses them.

    @dataclass(frozen=True, slots=True)
    class Settings:
        max_batch_size: int = option("max-batch-size", 16, "Rows in one message.")

    read_settings(Settings, {"max-batch-size": "32"})

A user's own configuration names a format and its options too. Three kinds are known: a TiCDC
changefeed's file in TOML, its sink URI, and the JSON of a Kafka Connect connector.
``option(settings=...)`` names the settings that give an option. ``Format.protocols`` and
``Format.connectors`` choose the format.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import cache, partial
from types import MappingProxyType
from typing import (
    Any,
    Literal,
    Protocol,
    TypeAlias,
    TypeVar,
    cast,
    get_args,
    get_origin,
    get_type_hints,
    overload,
)

from cdcwire.core.nearest import meant_or_known

OptionValue: TypeAlias = "str | int | bool"
T = TypeVar("T")
V = TypeVar("V", str, int, bool)
S = TypeVar("S")


class OptionError(ValueError):
    """An option is unknown, or its value is not allowed."""


ConfigurationKind: TypeAlias = Literal["changefeed", "sink-uri", "connector"]
ANY_VALUE = "*"
TRANSFORMS = "transforms.*."  # before the settings of each transform that a connector has
TRANSFORM = f"{TRANSFORMS}type"
JSON_CONVERTER = "org.apache.kafka.connect.json.JsonConverter"


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting of a producer's own configuration that gives the value of an option.

    ``name``: its full name there, as ``sink.csv.delimiter``. ``values``: the option's value by the
    setting's, with ``ANY_VALUE`` for all others; a value that is not listed is used unchanged.
    ``is_list``: its value is a list, and the option's that list in JSON.
    """

    kind: ConfigurationKind
    name: str
    values: Mapping[str, str | bool] = field(default_factory=dict, hash=False)
    is_list: bool = False

    def value_of(self, text: str) -> str | bool:
        """Return the option's value for the text of a setting."""
        return self.values.get(text, self.values.get(ANY_VALUE, text))


def changefeed(
    name: str, values: Mapping[str, str | bool] | None = None, *, is_parameter: bool = False
) -> tuple[Setting, ...]:
    """Return a setting of a changefeed's file; ``is_parameter``: a sink URI may have it too."""
    found = Setting("changefeed", name, values or {})
    if not is_parameter:
        return (found,)
    return found, Setting("sink-uri", name.rpartition(".")[2], found.values)


def transform(*names: str) -> tuple[Setting, ...]:
    """Return the settings of a connector's transform that give the same option."""
    return connector(*(f"{TRANSFORMS}{name}" for name in names))


def connector(*names: str, values: Mapping[str, str | bool] | None = None) -> tuple[Setting, ...]:
    """Return the properties of a connector that give the same option."""
    return tuple(Setting("connector", name, values or {}) for name in names)


@dataclass(frozen=True, slots=True)
class Connector:
    """The connectors whose topics have messages of a format.

    ``classes``: values of ``connector.class`` of sources; none: all sinks. ``converter``: the value
    of ``value.converter``, where the connector has one. ``defaults``: options that the connector's
    own defaults give. ``needs``: values that properties must have if they are set; in their names
    ``*`` is any text. ``needs_converter``: only a connector that names the converter is meant, not
    one that leaves it to the worker.
    """

    converter: str
    classes: tuple[str, ...] = ()
    defaults: Mapping[str, str | int | bool] = field(default_factory=dict, hash=False)
    needs: Mapping[str, str] = field(default_factory=dict, hash=False)
    needs_converter: bool = False


@dataclass(frozen=True, slots=True)
class Option:
    """A setting of the producer that the bytes do not show, named as in its configuration.

    ``settings``: where users' own configurations give its value.
    """

    name: str
    default: OptionValue
    help: str
    values: tuple[str, ...] | None = None
    settings: tuple[Setting, ...] = ()

    def parse(self, value: OptionValue) -> OptionValue:
        """Return ``value`` in the type of the default. Text is read as in a configuration file.

        Raises: OptionError, naming the option and the allowed values.
        """
        parsed = self._convert(value)
        if parsed is None or (self.values is not None and parsed not in self.values):
            raise OptionError(f"option {self.name}={value!r:.80} is not {self.allowed}")
        return parsed

    def _convert(self, value: OptionValue) -> OptionValue | None:
        if isinstance(self.default, bool):
            words = {"true": True, "false": False}
            return value if isinstance(value, bool) else words.get(str(value).lower())
        if isinstance(self.default, int):
            text = str(value)
            is_number = text.isascii() and text.isdigit() and len(text) < 20
            return int(text) if is_number and not isinstance(value, bool) else None
        return value if isinstance(value, str) else None

    @property
    def allowed(self) -> str:
        """The allowed values, in words: ``one of 'none', 'lz4'``."""
        if self.values is not None:
            return "one of " + ", ".join(map(repr, self.values))
        if isinstance(self.default, bool):
            return "true or false"
        return "a number from 0" if isinstance(self.default, int) else "text"


class Given(Protocol):
    """The source of settings: a ``cdcwire.format.Context``."""

    @property
    def options(self) -> Mapping[str, OptionValue]:
        """The values of options by name."""
        ...

    @property
    def compressions(self) -> Mapping[str, object]:
        """The compression functions by name."""
        ...


@dataclass(frozen=True, slots=True)
class _Options:
    options: Mapping[str, OptionValue]
    compressions: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Declared:
    """An option as a field declares it. ``convert``: from the option's value to the field's."""

    name: str
    default: OptionValue
    help: str
    values: tuple[str, ...] | None
    convert: Callable[[Any], object] | None
    settings: tuple[Setting, ...]

    def read(self, value: OptionValue) -> object:
        """Return the field's value. Raises: OptionError, naming the option."""
        if self.convert is None:
            return value
        try:
            return self.convert(value)
        except ValueError as error:
            raise OptionError(f"option {self.name}={value!r:.80} {error}") from None


@dataclass(frozen=True, slots=True)
class _Group:
    settings: type
    fixed: Mapping[str, object]


_OPTION, _GROUP, _CONTEXT = "option", "group", "context"


@overload
def option(name: str, default: T, help: str, *, settings: tuple[Setting, ...] = ()) -> T: ...
@overload
def option(
    name: str,
    default: V,
    help: str,
    *,
    convert: Callable[[V], T],
    values: tuple[str, ...] | None = None,
    settings: tuple[Setting, ...] = (),
) -> T: ...
def option(
    name: str,
    default: Any,
    help: str,
    *,
    convert: Callable[[Any], Any] | None = None,
    values: tuple[str, ...] | None = None,
    settings: tuple[Setting, ...] = (),
) -> Any:
    """Return a dataclass field that an option sets.

    ``convert`` turns the option's value into the field's. It may raise ValueError with the end of
    a sentence about the option: "is not text in UTF-8". ``values``: what the option allows; without
    it, the values of a field's ``Literal`` type, or any. ``settings``: what gives its value in the
    configuration that users already have.
    """
    declared = _Declared(name, default, help, values, convert, settings)
    value = default if convert is None else convert(default)
    return field(default=value, metadata={_OPTION: declared})


def option_group(settings: type[S], **fixed: object) -> S:
    """Return a field for a settings class in a settings class; its options are this one's too.

    ``fixed``: members of the inner class that no option sets.
    """
    made: S = field(default=settings(**fixed), metadata={_GROUP: _Group(settings, fixed)})
    return made


def from_context(default: Mapping[str, T] = MappingProxyType({})) -> Mapping[str, T]:
    """Return a field that the member of the same name of the context sets: ``compressions``."""
    made: Mapping[str, T] = field(default_factory=lambda: default, metadata={_CONTEXT: True})
    return made


def utf8(text: str) -> bytes:
    """Return the text as UTF-8. Raises: ValueError for lone surrogates."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise ValueError("is not text in UTF-8") from None


def line_end(text: str) -> bytes:
    """Return a line end as UTF-8. Raises: ValueError for one that is spelled with a backslash."""
    if "\\n" in text or "\\r" in text:
        raise ValueError(
            "has a backslash and a letter where a line end is meant; a shell gives the line end "
            "itself for $'terminator=\\n'"
        )
    return utf8(text)


@cache
def options_of(settings: type) -> tuple[Option, ...]:
    """Return the options that a settings class declares, in the order of its fields."""
    types, found = get_type_hints(settings), list[Option]()
    for each in fields(settings):
        if _GROUP in each.metadata:
            found += options_of(each.metadata[_GROUP].settings)
        elif _OPTION in each.metadata:
            declared = each.metadata[_OPTION]
            values, kind = declared.values, types[each.name]
            if values is None and get_origin(kind) is Literal:
                values = get_args(kind)
            found.append(
                Option(declared.name, declared.default, declared.help, values, declared.settings)
            )
    return tuple(found)


def read_settings(settings: type[S], given: Given | Mapping[str, OptionValue]) -> S:
    """Return settings from a context, or from options by name.

    Raises: OptionError for an unknown option, a value that is not allowed, or options that
    contradict each other.
    """
    # hasattr, since isinstance of an abstract class takes longer than reading no options.
    has_options = hasattr(given, "options")
    context = cast(
        Given, given if has_options else _Options(cast(Mapping[str, OptionValue], given))
    )
    kind: type = settings
    if not context.options and not (context.compressions and _plan(kind).takes_context):
        return cast(S, _default(kind))
    return _build(settings, _parsed(options_of(kind), context.options), context, {})


def settings_reader(settings: type[S]) -> Callable[[Given | Mapping[str, OptionValue]], S]:
    """Return ``read_settings`` for one settings class."""
    return partial(read_settings, settings)


@cache
def _default(settings: type) -> object:
    return settings()


@dataclass(frozen=True, slots=True)
class _Plan:
    """The fields of a settings class: those of options by the option, the others by the field."""

    declared: Mapping[str, tuple[str, _Declared]]
    groups: Mapping[str, _Group]
    context: tuple[str, ...]

    @property
    def takes_context(self) -> bool:
        """True if a field, also of a group, comes from the context."""
        groups = self.groups.values()
        return bool(self.context) or any(_plan(group.settings).takes_context for group in groups)


@cache
def _plan(settings: type) -> _Plan:
    found = fields(settings)
    return _Plan(
        {
            each.metadata[_OPTION].name: (each.name, each.metadata[_OPTION])
            for each in found
            if _OPTION in each.metadata
        },
        {each.name: each.metadata[_GROUP] for each in found if _GROUP in each.metadata},
        tuple(each.name for each in found if _CONTEXT in each.metadata),
    )


def _build(
    settings: type[S],
    values: Mapping[str, OptionValue],
    context: Given,
    fixed: Mapping[str, object],
) -> S:
    """Return settings with the given values; every other field keeps its default."""
    kind: type = settings
    plan, members = _plan(kind), dict(fixed)
    for name, value in values.items():
        if name in plan.declared:
            member, declared = plan.declared[name]
            members[member] = declared.read(value)
    for member, group in plan.groups.items():
        members[member] = _build(group.settings, values, context, group.fixed)
    for member in plan.context:
        members[member] = getattr(context, member)
    return settings(**members)


def parse_options(
    options: tuple[Option, ...], given: Mapping[str, OptionValue]
) -> dict[str, OptionValue]:
    """Return every option with its given or default value.

    A name may have its section before it (``sink.open.output-old-value``).
    Raises: OptionError for an unknown name, or a value that is not allowed.
    """
    return {option.name: option.default for option in options} | _parsed(options, given)


def _parsed(
    options: tuple[Option, ...], given: Mapping[str, OptionValue]
) -> dict[str, OptionValue]:
    """Return the given options. Raises: OptionError, as ``parse_options``."""
    known = {option.name: option for option in options}
    values: dict[str, OptionValue] = {}
    for full_name, value in given.items():
        name = full_name.rpartition(".")[2]
        if name not in known:
            meant = meant_or_known(name, known)
            raise OptionError(f"unknown option {full_name!r:.80}{meant}")
        values[name] = known[name].parse(value)
    return values
