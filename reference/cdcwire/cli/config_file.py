"""The user's own options of each verb, in ``cdcwire.toml`` or in ``pyproject.toml``.

``[compare]`` of ``cdcwire.toml``, or ``[tool.cdcwire.compare]`` of ``pyproject.toml``, has options
of ``cdcwire compare`` by their names without ``--``. They precede the words of the command line,
which override them; an option that may be given again is added to.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NoReturn

from cdcwire.cli.arguments import Parser
from cdcwire.core.nearest import did_you_mean
from cdcwire.files.local_files import read_short

CONFIG_FILE = "cdcwire.toml"
_PROJECT_FILE = "pyproject.toml"
_PROJECT_SECTION = "tool.cdcwire"


def configured_words(verb: str, verbs: tuple[str, ...], parser: Parser) -> list[str]:
    """Return the words that the file in the current directory has for a verb.

    ``verbs``: the names that a section may have. A wrong name or value ends the program with two
    lines, as a wrong word does.
    """
    where, sections = _sections(parser)
    for name in sections:
        if name not in verbs:
            parser.error(f"{where}: {name!r:.80} is not a verb", did_you_mean(name, verbs))
    section = sections.get(verb, {})
    if not isinstance(section, dict):
        parser.error(f"{where}: {verb} is not a section")
    options = parser.options_by_name()
    return [
        word
        for name, value in section.items()
        for word in _Setting(parser, f"{where}: {verb}.{name}", name, options).words(value)
    ]


def _sections(parser: Parser) -> tuple[str, Mapping[str, object]]:
    """Return the file that counts, and its sections."""
    if Path(CONFIG_FILE).is_file():
        return CONFIG_FILE, _document(CONFIG_FILE, CONFIG_FILE, parser)
    if not Path(_PROJECT_FILE).is_file() or not _may_have_section():
        return CONFIG_FILE, {}
    found: object = _document(_PROJECT_FILE, f"[{_PROJECT_SECTION}]", parser)
    for name in _PROJECT_SECTION.split("."):
        found = found.get(name, {}) if isinstance(found, dict) else {}
    if not isinstance(found, dict):
        parser.error(f"{_PROJECT_FILE}: {_PROJECT_SECTION} is not a section")
    return f"{_PROJECT_FILE}: {_PROJECT_SECTION}", found


def _may_have_section() -> bool:
    try:
        return f"[{_PROJECT_SECTION}".encode() in read_short(_PROJECT_FILE)
    except OSError:
        return True  # the reader of TOML says why


def _document(file: str, purpose: str, parser: Parser) -> Mapping[str, object]:
    # Imported here: most directories have no such file, and every command comes along.
    from cdcwire.configuration import ConfigurationError
    from cdcwire.configuration.found import read_toml

    try:
        return read_toml(file, purpose)
    except ConfigurationError as error:
        parser.error(str(error))


class _Setting:
    """One setting of a section, and the words of the command line that it means."""

    def __init__(
        self, parser: Parser, where: str, name: str, options: Mapping[str, argparse.Action]
    ) -> None:
        self._parser, self._where = parser, where
        if name not in options:
            self._refuse(f"is not an option of {parser.prog}", did_you_mean(name, options))
        self._option = f"--{name}"
        self._is_flag = options[name].nargs == 0
        self._opposite = f"no-{name}" if f"no-{name}" in options else ""

    def words(self, value: object) -> Iterator[str]:
        """Yield the words of a value: of a list for each item, of a table for each NAME=VALUE."""
        if self._is_flag:
            if not isinstance(value, bool):
                self._refuse("is true or false")
            if value:
                yield self._option
            elif self._opposite:
                yield f"--{self._opposite}"
        elif isinstance(value, list):
            yield from map(self._word, value)
        elif isinstance(value, dict):
            yield from (self._word(f"{name}={_text(item)}") for name, item in value.items())
        else:
            yield self._word(value)

    def _word(self, value: object) -> str:
        if isinstance(value, (dict, list)):
            self._refuse("has a list or a section in a list")
        return f"{self._option}={_text(value)}"

    def _refuse(self, problem: str, meant: str = "") -> NoReturn:
        self._parser.error(f"{self._where} {problem}", meant)


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
