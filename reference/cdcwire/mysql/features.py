"""The parts that all formats of MySQL's changes have, which a testee may decline."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

MYSQL_FEATURES: Mapping[str, str] = MappingProxyType(
    {
        "unsigned": "unsigned integers, up to 2**64-1",
        "float": "FLOAT and DOUBLE",
        "decimal": "DECIMAL",
        "text": "CHAR, VARCHAR and the TEXT types",
        "bytes": "BINARY, VARBINARY and the BLOB types",
        "date": "DATE",
        "time": "TIME",
        "datetime": "DATETIME",
        "timestamp": "TIMESTAMP",
        "year": "YEAR",
        "bit": "BIT",
        "enum": "ENUM",
        "set": "SET",
        "json": "JSON",
    }
)
