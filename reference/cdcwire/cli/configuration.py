"""``--sink-uri``, ``--changefeed`` and ``--connector``: configuration that users already have."""

from __future__ import annotations

import argparse

from cdcwire.configuration import (
    Configuration,
    ConfigurationError,
    read_connector,
    read_ticdc,
)
from cdcwire.console.problems import UsageError
from cdcwire.console.visible import print_error, visible
from cdcwire.core.options import OptionValue
from cdcwire.identify.auto import AUTO
from cdcwire.identify.report import option_text
from cdcwire.registry import FORMAT_NAMES, get_format

_NAMES = "--sink-uri, --changefeed or --connector"


def add_format_argument(parser: argparse.ArgumentParser, *, identifies: bool = False) -> None:
    """Add the argument FORMAT, which may be ``auto``, and the configuration that names it.

    ``identifies``: without a configuration, ``auto`` is the format that the messages show.
    """
    otherwise = "; without them: identify it" if identifies else ""
    parser.add_argument(
        "format",
        choices=(*FORMAT_NAMES, AUTO),
        metavar="FORMAT",
        help=f"the id of a format, or auto: the format of {_NAMES}{otherwise}",
    )
    add_configuration_arguments(parser)


def add_configuration_arguments(parser: argparse._ActionsContainer, side: str = "") -> None:
    """Add --sink-uri, --changefeed and --connector. ``side``: the side of a comparison."""
    group = parser.add_argument_group(f"configuration of the {side + ' ' if side else ''}producer")
    prefix = f"--{side}-" if side else "--"
    group.add_argument(
        f"{prefix}sink-uri",
        metavar="URI",
        help="take format and options from the sink URI of a TiCDC changefeed; passwords are not "
        "needed and not shown",
    )
    group.add_argument(
        f"{prefix}changefeed",
        metavar="FILE",
        help="take format and options from the TOML file of a TiCDC changefeed; parameters of "
        "a sink URI override it",
    )
    group.add_argument(
        f"{prefix}connector",
        metavar="FILE",
        help="take format and options from the JSON of a Debezium connector, or of a sink of Kafka "
        "Connect",
    )


def use_configuration(
    arguments: argparse.Namespace, verb: str, *, needs_schemas: bool = True
) -> None:
    """Set the format of the arguments, and put the options found before those of the user.

    Nothing changes without a configuration. ``needs_schemas``: the verb reads messages, which may
    need the schemas of a registry. Raises: UsageError.
    """
    chosen = None if arguments.format == AUTO else arguments.format
    found = _configured(
        arguments, verb, chosen, needs_schemas=needs_schemas and not arguments.schema
    )
    if found is not None:
        arguments.format, options = found
        arguments.option = [*options, *arguments.option]


def need_format(arguments: argparse.Namespace, verb: str) -> None:
    """Use the configuration, for a verb that does not identify. Raises: UsageError."""
    use_configuration(arguments, verb, needs_schemas=False)
    if arguments.format == AUTO:
        raise UsageError(f"the format auto needs {_NAMES}")


def configure_sides(arguments: argparse.Namespace, verb: str) -> None:
    """Give each side of a comparison the format and options of its configuration, if it has one.

    Raises: UsageError.
    """
    for side in ("left", "right"):
        chosen, colon, place = getattr(arguments, side).partition(":")
        has_schemas = arguments.schema or getattr(arguments, f"{side}_schema")
        chosen_format = None if chosen == AUTO else chosen
        found = _configured(
            arguments, verb, chosen_format, f"{side}_", needs_schemas=not has_schemas
        )
        if found is not None:
            setattr(arguments, side, f"{found[0]}{colon}{place}")
            own = getattr(arguments, f"{side}_option")
            setattr(arguments, f"{side}_option", [*found[1], *own])


def _configured(
    arguments: argparse.Namespace,
    verb: str,
    chosen: str | None,
    prefix: str = "",
    *,
    needs_schemas: bool,
) -> tuple[str, list[str]] | None:
    """Return the format and the options, as NAME=VALUE, of a configuration; None without one.

    It prints them in one line on standard error, and warnings. ``chosen``: the format that the user
    names. ``prefix``: of the arguments of a side. Raises: UsageError.
    """
    uri, changefeed, connector = (
        getattr(arguments, f"{prefix}{name}") for name in ("sink_uri", "changefeed", "connector")
    )
    if uri is None and changefeed is None and connector is None:
        return None
    if connector is not None and (uri is not None or changefeed is not None):
        raise UsageError("--connector is not given together with --sink-uri or --changefeed")
    try:
        found = read_connector(connector) if connector else read_ticdc(uri, changefeed)
        format_name = found.format_for(chosen)
        options, warnings = found.options_for(format_name)
    except ConfigurationError as error:
        raise UsageError(visible(str(error))) from None
    if needs_schemas:
        warnings += _registry_warnings(found, format_name)
    for warning in (*found.warnings, *warnings):
        print_error(f"cdcwire {verb}: warning: {warning}")
    shown = "".join(f" --option {option_text(*each)}" for each in options.items())
    print_error(f"cdcwire {verb}: {found.source}: {format_name}{shown}")
    return format_name, [f"{name}={_text(value)}" for name, value in options.items()]


def _registry_warnings(found: Configuration, format_name: str) -> list[str]:
    if found.registry is None or get_format(format_name).schemas is None:
        return []
    return [f"the registry {found.registry} is not asked for schemas without --schema"]


def _text(value: OptionValue) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
