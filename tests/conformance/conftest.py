"""Tests that need the extra ``spark``: left out where it is missing, and named as not run."""

from __future__ import annotations

from importlib.util import find_spec

_MISSING = [name for name in ("pyarrow", "pyspark") if find_spec(name) is None]

collect_ignore = ["arrow", "spark"] if _MISSING else []


def pytest_report_header() -> str | None:
    if not _MISSING:
        return None
    missing = ", ".join(_MISSING)
    return f"not run: tests/conformance/arrow and tests/conformance/spark, without {missing}"
