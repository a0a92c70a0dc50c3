"""The formats that are read with an Avro library: TiCDC's Avro and Debezium's."""

from __future__ import annotations

from collections.abc import Sequence

import debezium_avro
import ticdc_avro
from avro_data import Read
from testee import Format, serve_formats

REJECTIONS = (ValueError, TypeError, LookupError, EOFError, ArithmeticError, RecursionError)
"""The errors that libraries raise for broken bytes, in addition to their own."""


def serve_avro(
    name: str,
    version: str,
    read: Read,
    rejections: tuple[type[Exception], ...],
    without: Sequence[str] = (),
) -> None:
    """Answer requests with a library that is called by ``read``; see ``testee.Format``."""
    formats = {
        "avro": Format(
            ticdc_avro.decoder(read),
            rejections=(*REJECTIONS, *rejections),
            without=(*ticdc_avro.WITHOUT, *without),
        ),
        "debezium-avro": Format(
            debezium_avro.decoder(read),
            rejections=(*REJECTIONS, *rejections),
            without=(*debezium_avro.WITHOUT, *without),
        ),
    }
    serve_formats(name, version, formats)
