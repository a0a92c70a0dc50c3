"""The result of reading a configuration: possible formats, and the settings that give options."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cache
from importlib import import_module

from cdcwire.core.options import ConfigurationKind, Option, OptionError, OptionValue, Setting
from cdcwire.extras import load_extra
from cdcwire.files.local_files import read_short
from cdcwire.registry import FORMAT_NAMES, get_format

_SHOWN = 10  # names in one warning
# The short forms of true and false that TiCDC takes in a sink URI.
_URI_BOOLEANS = {"1": True, "t": True, "T": True, "0": False, "f": False, "F": False}

_PARAMETERS = re.compile(r"[?#]")
_PARAMETERS_AFTER_PATH = re.compile(r"/.*[?#]")


class ConfigurationError(ValueError):
    """A configuration cannot be used. The text is one line for the user, without secrets."""


@dataclass(frozen=True, slots=True)
class Given:
    """A setting that gives an option of some format. ``where``: its file and name, for messages."""

    kind: ConfigurationKind
    name: str
    value: object
    where: str


@dataclass(frozen=True, slots=True)
class Configuration:
    """The possible formats of a configuration, and its settings that give options.

    ``source``: its name for messages. ``named_by``: the setting that names the format. ``formats``:
    the formats that it may mean. ``settings``: those that give options; the first of a name counts.
    ``defaults``: by format, the options that the producer's own defaults give. ``warnings``: what
    is unknown or not used. ``registry``: the address of its schema registry, without credentials.
    """

    source: str
    named_by: str
    formats: tuple[str, ...]
    settings: tuple[Given, ...]
    defaults: Mapping[str, Mapping[str, OptionValue]] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    registry: str | None = None

    def format_for(self, chosen: str | None) -> str:
        """Return the format. ``chosen``: the format that the user names, if any.

        Raises: ConfigurationError if it is another one, or if several are possible.
        """
        if chosen is None and len(self.formats) == 1:
            return self.formats[0]
        if chosen is None:
            names = " or ".join(self.formats)
            raise ConfigurationError(f"{self.named_by}: the format is {names}; name one of them")
        if chosen not in self.formats:
            names = " or ".join(self.formats)
            raise ConfigurationError(f"{self.named_by}: the format is {names}, not {chosen}")
        return chosen

    def options_for(self, format_name: str) -> tuple[dict[str, OptionValue], list[str]]:
        """Return the options of a format, and warnings about settings that contradict each other.

        Raises: ConfigurationError for a value that the option does not allow.
        """
        options = dict(self.defaults.get(format_name, {}))
        warnings = []
        for option in get_format(format_name).options:
            values = self._values_of(option)
            if len(set(values.values())) == 1:
                options[option.name] = next(iter(values.values()))
            elif values:
                options.pop(option.name, None)
                names = " and ".join(values)
                warnings.append(f"{names} differ; option {option.name} keeps its default")
        return options, warnings

    def _values_of(self, option: Option) -> dict[str, OptionValue]:
        """Return the option's value by the places of the settings that give it."""
        settings = {(each.kind, each.name): each for each in option.settings}
        found = {(each.kind, each.name): each for each in reversed(self.settings)}
        given = [each for name, each in found.items() if name in settings]
        in_uri = [each for each in given if each.kind == "sink-uri"]
        return {
            each.where: _value(option, settings[each.kind, each.name], each)
            for each in in_uri or given
        }


def _value(option: Option, setting: Setting, given: Given) -> OptionValue:
    if setting.is_list and isinstance(given.value, list):
        given = replace(given, value=json.dumps(given.value))
    if not isinstance(given.value, str | int):
        raise ConfigurationError(f"{given.where}: is not a text, a number, true or false")
    shown = given.value if isinstance(given.value, str) else str(given.value).lower()
    if given.kind == "sink-uri" and "true" in setting.values and shown in _URI_BOOLEANS:
        shown = str(_URI_BOOLEANS[shown]).lower()
    # Kafka Connect takes a number or a boolean for its text. A boolean may have another value here.
    is_text = isinstance(given.value, str) or given.kind == "connector" or shown in setting.values
    value = setting.value_of(shown) if is_text else given.value
    if given.kind == "sink-uri" and isinstance(option.default, bool):
        value = _URI_BOOLEANS.get(shown, value)
    if isinstance(value, str) and "://" in value:
        value = public_address(value)
    try:
        return option.parse(value)
    except OptionError:
        allowed = f"one of {', '.join(map(repr, setting.values))}"
        raise ConfigurationError(
            f"{given.where}: {shown!r:.80} is not {allowed if setting.values else option.allowed}"
        ) from None


@cache
def option_settings(kind: ConfigurationKind) -> frozenset[str]:
    """Return the names of all settings of a kind that give an option of some format."""
    options = (option for name in FORMAT_NAMES for option in get_format(name).options)
    settings = (setting for option in options for setting in option.settings)
    return frozenset(each.name for each in settings if each.kind == kind)


def matches(name: str, patterns: Iterable[str]) -> bool:
    """Return whether a name is one of the patterns, in which ``*`` is any text."""
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def read_text(file: str) -> str:
    """Return the text of a file. Raises: ConfigurationError."""
    try:
        return read_short(file).decode("utf-8-sig")
    except OSError as error:
        raise ConfigurationError(f"{file}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{file}: byte {error.start} is not UTF-8") from None


def public_address(text: str) -> str:
    """Return an address without user, password and parameters, which may be secrets.

    A password may have signs that should be encoded. So all before an ``@`` is left out, except
    before one in the parameters after a path.
    """
    scheme, separator, rest = text.partition("://")
    if not separator:
        scheme, rest = "", text
    before, mark, after = rest.rpartition("@")
    if mark and not _PARAMETERS_AFTER_PATH.search(before):
        rest = after
    return scheme + separator + _PARAMETERS.split(rest)[0]


def unknown_text(names: Sequence[str], what: str = "setting") -> str:
    """Return the end of a warning about settings that are not known."""
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    listed = ", ".join(names[:_SHOWN])
    return f"ignored: unknown {what}{'s' * (len(names) > 1)} {listed}{more}"


_MOST_CHARACTERS = 1 << 20
_LONG_KEY = re.compile(r"""(?<![\w"'-])(?:["'\w-]+[ \t]*\.[ \t]*){100}""")
_PLACE = re.compile(r"at (line \d+, column \d+|end of document)")


def read_toml(file: str, purpose: str) -> dict[str, object]:
    """Return a file's document.

    ``purpose``: what needs it, for the error of Python 3.10 without the extra "toml".
    Raises: ConfigurationError, MissingExtraError.
    """
    if sys.version_info >= (3, 11):
        toml = import_module("tomllib")
    else:
        toml = load_extra("tomli", "toml", f"{purpose} on Python 3.10")
    text = read_text(file)
    if len(text) > _MOST_CHARACTERS:
        raise ConfigurationError(f"{file}: more than {_MOST_CHARACTERS:,} characters")
    if _LONG_KEY.search(text):  # parsers need quadratic time and memory for it
        raise ConfigurationError(f"{file}: nested too deeply")
    try:
        document: dict[str, object] = toml.loads(text)
    except RecursionError:
        raise ConfigurationError(f"{file}: nested too deeply") from None
    except ValueError as error:
        place = _PLACE.search(str(error))
        where = f" at {place[1]}" if place else ""
        raise ConfigurationError(f"{file}: not TOML{where}") from None
    return document
