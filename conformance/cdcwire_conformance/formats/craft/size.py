"""What the Craft proposal claims of Craft's size."""

from __future__ import annotations

from cdcwire_conformance.suite import SizeClaim

CLAIM = SizeClaim(source="The Craft proposal", subject="Craft", compression="zlib")
