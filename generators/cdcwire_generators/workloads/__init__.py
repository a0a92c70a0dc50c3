"""Seeded change streams of any size: one seed, one stream, on every Python and for every format.

Standard library only. Of ``random.Random`` only ``random()`` and ``getrandbits()`` are used, as
other methods differ between releases of Python. Streams are lazy, and their memory does not grow.
"""

from cdcwire_generators.workloads.catalog import (
    DEFAULT_WORKLOAD,
    WORKLOAD_NAMES,
    workload,
    workload_tables,
    workload_title,
)
from cdcwire_generators.workloads.evolving import (
    EVOLVING_WORKLOAD,
    evolving_tables,
    evolving_workload,
)
from cdcwire_generators.workloads.stream import Mix, table_workload

__all__ = [
    "DEFAULT_WORKLOAD",
    "EVOLVING_WORKLOAD",
    "WORKLOAD_NAMES",
    "Mix",
    "evolving_tables",
    "evolving_workload",
    "table_workload",
    "workload",
    "workload_tables",
    "workload_title",
]
