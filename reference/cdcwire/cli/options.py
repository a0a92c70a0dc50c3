"""``cdcwire options``: the options of a format, from their declarations."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from cdcwire.console.visible import UNSEEN
from cdcwire.core.options import ConfigurationKind, Option
from cdcwire.registry import FORMAT_NAMES, get_format

NAME = "options"
HELP = "list the options of a format"
DESCRIPTION = """\
List the options of a format: name, allowed values, default and meaning. They are settings of the
producer that the bytes do not show, spelled as in its configuration. Other verbs take them as
--option NAME=VALUE; there --option help prints the same list. The last line of an option names the
settings of a changefeed, a sink URI or a connector that give its value.
"""
EXAMPLES = """\
examples:
  cdcwire options csv
  cdcwire decode csv --option help
"""
_PLACES: dict[ConfigurationKind, str] = {
    "changefeed": "changefeed:",
    "sink-uri": "sink URI:",
    "connector": "connector:",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``cdcwire options``."""
    parser.add_argument(
        "format", choices=FORMAT_NAMES, metavar="FORMAT", help="`cdcwire formats` lists them"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the options of a format. Returns 0."""
    print(options_text(arguments.format))
    return 0


def options_text(format_name: str) -> str:
    """Return the options of a format for people, in the order of their declaration."""
    options = get_format(format_name).options
    if not options:
        return f"{format_name} has no options"
    heading = f"options of {format_name}, given as --option NAME=VALUE"
    return "\n".join([heading, *_lines(options)])


def _lines(options: tuple[Option, ...]) -> Iterator[str]:
    for option in options:
        yield ""
        yield f"  {option.name}    {option.allowed}; default: {default_text(option) or 'empty'}"
        yield f"      {option.help}"
        if option.settings:
            yield f"      {settings_text(option)}"


def default_text(option: Option) -> str:
    """Return an option's default as ``--option`` takes it, control characters escaped."""
    default = option.default
    return str(default).lower() if isinstance(default, bool) else str(default).translate(UNSEEN)


def settings_text(option: Option, mark: str = "") -> str:
    """Return where users' own configurations set an option. ``mark``: put around each name."""
    parts = []
    for kind, place in _PLACES.items():
        names = [f"{mark}{each.name}{mark}" for each in option.settings if each.kind == kind]
        if names:
            parts.append(f"{place} {', '.join(names)}")
    return "; ".join(parts)


class OptionArgument(argparse.Action):
    """Adds NAME=VALUE to a list. ``help`` prints the options of the format instead, and ends."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        """Add one value. Raises: SystemExit after the list."""
        if values != "help":
            setattr(namespace, self.dest, [*getattr(namespace, self.dest), values])
            return
        format_name = getattr(namespace, "format", None)
        if format_name not in FORMAT_NAMES:  # not given yet, or auto
            parser.error(f"{option_string} help: `cdcwire options FORMAT` lists the options")
        print(options_text(format_name))
        parser.exit()
