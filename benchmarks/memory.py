"""Memory of decoders over time: it must not grow with the number of messages.

Run as ``python -m benchmarks.memory [--quick] [--json FILE]``. Rows are made, encoded and decoded
message by message, none is kept. The most memory that the process had is read on the way: after
the first tenth of the rows it must not grow any more.
"""

from __future__ import annotations

import resource
import sys
from collections.abc import Iterator, Sequence
from itertools import islice

from benchmarks.document import Result, arguments, finish
from cdcwire.core.message import KafkaMessage
from cdcwire.formats import craft
from cdcwire.formats.craft.events import messages_of
from cdcwire.formats.craft.fast import RowDecoder
from cdcwire.formats.craft.settings import Settings
from cdcwire_generators.workloads import workload, workload_tables

WORKLOAD = "orders-10"  # has random 64-bit integers, which a decoder must not keep
ROWS_PER_MESSAGE = 256
MAX_GROWTH_MIB = 4.0


def main(argv: Sequence[str] | None = None) -> int:
    given = arguments("Measure the memory of decoding.", argv)
    rows = 10_000 if given.quick else 1_000_000
    decoder = RowDecoder()
    values = messages(rows)
    early = decoded_rows(decoder, islice(values, rows // 10 // ROWS_PER_MESSAGE))
    early_peak = peak_mib()
    late = decoded_rows(decoder, values)
    late_peak = peak_mib()
    return finish(
        "memory",
        [
            Result(
                "growth",
                f"peak memory after {early + late:,} rows less that after {early:,}",
                round(late_peak - early_peak, 2),
                "MiB",
                MAX_GROWTH_MIB,
                is_least=False,
                details={"early peak MiB": early_peak, "late peak MiB": late_peak},
            ),
            Result(
                "peak", f"peak memory after {early + late:,} rows", late_peak, "MiB", is_least=False
            ),
        ],
        given,
    )


def messages(rows: int) -> Iterator[bytes]:
    settings = Settings(max_batch_size=ROWS_PER_MESSAGE)
    tables = workload_tables(WORKLOAD)
    for message in messages_of(workload(WORKLOAD, rows, 1), settings, tables):
        yield craft.encode(message)


def decoded_rows(decoder: RowDecoder, values: Iterator[bytes]) -> int:
    return sum(len(list(decoder.decode(KafkaMessage(None, value)))) for value in values)


def peak_mib() -> float:
    """Return the largest size that this process has had in memory."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1 << 20 if sys.platform == "darwin" else 1 << 10), 2)


if __name__ == "__main__":
    sys.exit(main())
