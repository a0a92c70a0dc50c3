"""Bytes per row: format by workload by batch size by compression (extra ``size``)."""

from cdcwire_conformance.size.compressions import COMPRESSION_NAMES
from cdcwire_conformance.size.inputs import (
    DEFAULT_ROWS,
    Input,
    SizeError,
    feed_input,
    named_input,
    named_inputs,
    table_input,
)
from cdcwire_conformance.size.markdown import markdown
from cdcwire_conformance.size.measure import DEFAULT_BATCHES, measure
from cdcwire_conformance.size.picture import picture
from cdcwire_conformance.size.results import Claim, SizeResults, claims, document, json_text

__all__ = [
    "COMPRESSION_NAMES",
    "DEFAULT_BATCHES",
    "DEFAULT_ROWS",
    "Claim",
    "Input",
    "SizeError",
    "SizeResults",
    "claims",
    "document",
    "feed_input",
    "json_text",
    "markdown",
    "measure",
    "named_input",
    "named_inputs",
    "picture",
    "table_input",
]
