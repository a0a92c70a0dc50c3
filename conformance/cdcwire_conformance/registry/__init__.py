"""Where schemas come from: a folder of schema files, or a registry over HTTP (extra ``registry``).

``open_schemas`` makes of either the mapping that ``Context.schemas`` takes.
"""

from cdcwire_conformance.registry.address import Address, RegistryError, parse_address
from cdcwire_conformance.registry.client import ConfluentRegistry, Level
from cdcwire_conformance.registry.http import MAX_ANSWER_BYTES, RetryPolicy
from cdcwire_conformance.registry.opening import Schemas, open_schemas

__all__ = [
    "MAX_ANSWER_BYTES",
    "Address",
    "ConfluentRegistry",
    "Level",
    "RegistryError",
    "RetryPolicy",
    "Schemas",
    "open_schemas",
    "parse_address",
]
