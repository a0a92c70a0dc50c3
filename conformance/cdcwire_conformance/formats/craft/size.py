"""The claims of the Craft proposal about Craft's size."""

from __future__ import annotations

from cdcwire_conformance.suite import SizeClaim

CLAIM = SizeClaim(source="The Craft proposal", subject="Craft", compression="zlib")
