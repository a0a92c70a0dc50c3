"""Hypothesis strategies, named by the plural of their values.

All arguments but the first are given by keyword, and impossible ones raise at once, or when the
first example is drawn. Examples shrink towards the smallest row. A ``Domain`` says which values are
made: what MySQL holds, or with ``domain_of(formats)`` all that these formats carry exactly.
"""

from cdcwire_generators.domain import KEY_SHAPES
from cdcwire_generators.strategies.damage import KINDS_OF_DAMAGE, damaged_bytes
from cdcwire_generators.strategies.json_renderings import json_renderings
from cdcwire_generators.strategies.kinds import columns_of_kind, values_of_kind
from cdcwire_generators.strategies.names import column_names, names, schema_names
from cdcwire_generators.strategies.odd import odd_events, odd_row_changes
from cdcwire_generators.strategies.rows import (
    batches,
    changed_images,
    images,
    positions,
    row_changes,
)
from cdcwire_generators.strategies.samples import option_settings, samples
from cdcwire_generators.strategies.streams import (
    ChangeStream,
    change_streams,
    late_columns,
    progress_events,
    schema_changes,
)
from cdcwire_generators.strategies.tables import column_types, columns, row_table, tables
from cdcwire_generators.strategies.values import values

__all__ = [
    "KEY_SHAPES",
    "KINDS_OF_DAMAGE",
    "ChangeStream",
    "batches",
    "change_streams",
    "changed_images",
    "column_names",
    "column_types",
    "columns",
    "columns_of_kind",
    "damaged_bytes",
    "images",
    "json_renderings",
    "late_columns",
    "names",
    "odd_events",
    "odd_row_changes",
    "option_settings",
    "positions",
    "progress_events",
    "row_changes",
    "row_table",
    "samples",
    "schema_changes",
    "schema_names",
    "tables",
    "values",
    "values_of_kind",
]
