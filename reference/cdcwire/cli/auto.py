"""``auto`` in place of a format: the format and the options that the messages show."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Mapping
from dataclasses import replace

from cdcwire.cli.context import UsageError
from cdcwire.console.visible import print_error
from cdcwire.core.context import Context
from cdcwire.core.options import OptionValue
from cdcwire.files.messages_io import STANDARD_STREAM
from cdcwire.identify.auto import (
    AUTO_SOURCE,
    recorded_format,
    unclear,
    with_found,
)
from cdcwire.identify.report import PlaceReport, identify_place, summary
from cdcwire.identify.sampling import MAX_MESSAGE_BYTES, Elsewhere

_UNREADABLE = {"parquet": "Parquet"}


def identified(
    verb: str,
    place: str,
    context: Context,
    key: str | None = None,
    elsewhere: Elsewhere | None = None,
) -> PlaceReport:
    """Return what a place contains, and print it in one line on standard error.

    Standard input can be read again afterwards. Raises: UsageError that lists the candidates.
    """
    raw = _keep_standard_input() if place == STANDARD_STREAM else b""
    report = identify_place(place, context, key=key, elsewhere=elsewhere)
    if place == STANDARD_STREAM:
        _set_standard_input(raw)
    if report.found is None:
        raise UsageError(unclear(place, report))
    print_error(f"cdcwire {verb}: {place}: {summary(report.found)}")
    return report


def source_identified(
    verb: str, source: str, context: Context, elsewhere: Elsewhere | None = None
) -> tuple[str, Mapping[str, OptionValue]]:
    """Return a source with its format in place of ``auto``, and all its options.

    The format is that of feed.json, or the messages show it. Raises: UsageError.
    """
    if not source.startswith(AUTO_SOURCE):
        return source, context.options
    place = source.removeprefix(AUTO_SOURCE)
    recorded = recorded_format(place)
    if recorded is not None:
        return f"{recorded}:{place}", context.options
    found = identified(verb, place, context, elsewhere=elsewhere).found
    assert found is not None
    return f"{found.format}:{place}", with_found(found, context.options)


def use_identified(
    arguments: argparse.Namespace, verb: str, place: str, context: Context
) -> Context:
    """Set the format of the arguments, and return the context with the options found.

    Options of the user stay as they are. Raises: UsageError.
    """
    report = identified(verb, place, context, arguments.key)
    found, reading = report.found, report.reading
    assert found is not None
    if reading.container in _UNREADABLE or reading.encoding == "base64":
        what = _UNREADABLE.get(reading.container, reading.encoding)
        raise UsageError(f"{place}: {verb} does not read {what}; its format is {found.format}")
    arguments.format = found.format
    arguments.hex = arguments.hex or reading.encoding == "hex"
    return replace(context, options=with_found(found, context.options))


def _keep_standard_input() -> bytes:
    raw = sys.stdin.buffer.read()
    _set_standard_input(raw[: MAX_MESSAGE_BYTES + 1])
    return raw


def _set_standard_input(raw: bytes) -> None:
    sys.stdin = io.TextIOWrapper(io.BytesIO(raw))
