"""The generators' facts about debezium-avro: those of Debezium's messages, and Avro's names."""

from __future__ import annotations

import re
from dataclasses import replace
from types import MappingProxyType
from typing import get_args

from cdcwire.formats.debezium_avro.settings import Dialect
from cdcwire.model.events import Image, RowChange
from cdcwire.model.kinds import Column, StructType
from cdcwire_generators.connect.debezium import (
    DEBEZIUM_CHOICES,
    DEBEZIUM_FEATURES,
    DEBEZIUM_FEED,
    DEBEZIUM_LOSSY,
    DEBEZIUM_OPTIONS,
    TICDC_OPTIONS,
    DebeziumRoundTrip,
)
from cdcwire_generators.formats import FormatGenerators
from cdcwire_generators.round_trip import NotCarriedError
from cdcwire_generators.samples import has_options, never

_is_name = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII).fullmatch


class DebeziumAvroRoundTrip(DebeziumRoundTrip):
    """Debezium's messages in Avro, which has fewer names."""

    def _images(self, event: RowChange) -> tuple[Image | None, Image | None]:
        found = super()._images(event)
        for image in found:
            for column in () if image is None else image.columns:
                _check_names(column)
        return found


def _check_names(column: Column) -> None:
    if _is_name(column.name) is None:
        raise NotCarriedError("names")
    kind = column.type
    if isinstance(kind, StructType):
        for field in kind.columns:
            _check_names(field)


GENERATORS = FormatGenerators(
    feed=replace(
        DEBEZIUM_FEED, has_field_names=True, shared_clauses=("connect", "debezium-json", "avro")
    ),
    round_trip=DebeziumAvroRoundTrip,
    option_values=MappingProxyType(
        {
            **DEBEZIUM_OPTIONS,
            "registry": ("confluent", "apicurio", "glue"),  # a header is not in the bytes
            "schema-name-adjustment-mode": ("avro", "avro_unicode"),
            # TiCDC's messages have their own tests: they carry less than the table of this format.
            "dialect": tuple(name for name in get_args(Dialect) if name != "ticdc"),
            **TICDC_OPTIONS,
            "avro-decimal-handling-mode": ("precise",),
            "avro-bigint-unsigned-handling-mode": ("long",),
            "avro-enable-watermark": (False,),
        }
    ),
    lossy_values=MappingProxyType(
        {
            **DEBEZIUM_LOSSY,
            "avro-decimal-handling-mode": ("string",),
            "avro-bigint-unsigned-handling-mode": ("string",),
            "avro-enable-watermark": (True,),
        }
    ),
    features=MappingProxyType(
        {
            **DEBEZIUM_FEATURES,
            "registry": has_options("registry", ("apicurio", "glue")),
            "foreign types": never,
        }
    ),
    choices=DEBEZIUM_CHOICES,
)
