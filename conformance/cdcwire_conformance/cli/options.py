"""``cdcwire options``: the options of a format, from their declarations."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from cdcwire.core.options import Option
from cdcwire.core.registry import FORMAT_NAMES, get_format

NAME = "options"
HELP = "list the options of a format"
DESCRIPTION = """\
List the options of a format: name, allowed values, default and meaning. They are settings of the
producer that the bytes do not show, spelled as in its configuration. Other verbs take them as
--option NAME=VALUE; there --option help prints the same list.
"""
EXAMPLES = """\
examples:
  cdcwire options csv
  cdcwire decode csv --option help
"""
_UNSEEN = str.maketrans({"\r": "\\r", "\n": "\\n", "\t": "\\t"})


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``cdcwire options``."""
    parser.add_argument("format", choices=FORMAT_NAMES, metavar="FORMAT")


def run(arguments: argparse.Namespace) -> int:
    """Print the options of a format. Returns 0."""
    print(options_text(arguments.format))
    return 0


def options_text(format_name: str) -> str:
    """Return the options of a format for people, in the order of their declaration."""
    heading = f"options of {format_name}, given as --option NAME=VALUE"
    return "\n".join([heading, *_lines(get_format(format_name).options)])


def _lines(options: tuple[Option, ...]) -> Iterator[str]:
    for option in options:
        default = (
            str(option.default).lower() if isinstance(option.default, bool) else option.default
        )
        shown = "empty" if default == "" else str(default).translate(_UNSEEN)
        yield ""
        yield f"  {option.name}    {option.allowed}; default: {shown}"
        yield f"      {option.help}"


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
