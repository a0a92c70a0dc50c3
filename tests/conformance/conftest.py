"""Tests that need the extra ``spark``, and Java: left out where one is missing, named as not run.

Where the environment variable ``CDCWIRE_SPARK`` is ``required``, a missing part is an error.
"""

from __future__ import annotations

import os
import shutil
from importlib.util import find_spec

import pytest


def _missing() -> list[str]:
    missing = [name for name in ("pyarrow", "pyspark") if find_spec(name) is None]
    has_java = shutil.which("java") is not None or "JAVA_HOME" in os.environ
    return missing if has_java else [*missing, "java"]


_MISSING = _missing()
_LEFT_OUT = [
    *(["arrow", "compare"] if "pyarrow" in _MISSING else []),
    *(["spark"] if _MISSING else []),
]

if _MISSING and os.environ.get("CDCWIRE_SPARK") == "required":
    raise pytest.UsageError(f"CDCWIRE_SPARK=required, but there is no {', '.join(_MISSING)}")

collect_ignore = _LEFT_OUT


def pytest_report_header() -> str | None:
    if not _MISSING:
        return None
    folders = " and ".join(f"tests/conformance/{name}" for name in _LEFT_OUT)
    return f"not run: {folders}, without {', '.join(_MISSING)}"
