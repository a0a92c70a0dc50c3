"""Where schemas come from: a folder of schema files, or a registry over HTTP (extra ``registry``).

``open_schemas`` makes of either the mapping that ``Context.schemas`` takes.
"""

from cdcwire.schema_registry.address import Address, RegistryError, parse_address
from cdcwire.schema_registry.client import ConfluentRegistry, Level
from cdcwire.schema_registry.http import MAX_ANSWER_BYTES, RetryPolicy
from cdcwire.schema_registry.opening import Schemas, open_schemas

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
