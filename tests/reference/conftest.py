"""The tests of Arrow batches need the extra ``compare``; without it they are named as not run."""

from __future__ import annotations

from importlib.util import find_spec

_HAS_ARROW = find_spec("pyarrow") is not None
collect_ignore = [] if _HAS_ARROW else ["arrow"]


def pytest_report_header() -> str | None:
    return None if _HAS_ARROW else "not run: tests/reference/arrow, without pyarrow"
