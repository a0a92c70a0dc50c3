"""A small measurement that several tests look at."""

from __future__ import annotations

import pytest

from cdcwire_conformance.size import SizeResults, measure, named_inputs

NAMES = ("tiny", "orders-10")


@pytest.fixture(scope="session")
def small_results() -> SizeResults:
    return measure(
        named_inputs(NAMES, rows=96, seed=3),
        batches=(1, 16),
        compression_names=("none", "zlib", "gzip"),
        seed=3,
    )
