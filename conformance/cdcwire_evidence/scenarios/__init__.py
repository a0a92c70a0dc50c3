"""Scenarios: feeds through real brokers and buckets, and what happens when these fail.

``services`` says where the services are: given by the environment, or ``containers`` starts them;
``topics`` sends messages through a topic and reads them back; ``ledger`` counts what was sent,
received, repeated and lost, and keeps the results for the report. The libraries that they need are
in ``requirements.txt``.
"""

from __future__ import annotations

from types import ModuleType

from cdcwire.extras import load_library

_REQUIREMENTS = "-r conformance/cdcwire_evidence/scenarios/requirements.txt"


def load_requirement(module: str, purpose: str) -> ModuleType:
    """Return a module of a library that only scenarios need. Raises: MissingExtraError."""
    return load_library(
        module, "-r conformance/cdcwire_evidence/scenarios/requirements.txt", purpose
    )
