"""Lets all tests import ``cdcwire_evidence``, which is not in the wheel.

Its folder is searched last, so that an installed wheel is tested and not the checkout.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent / "conformance"))
