"""DDL as table definitions of the model: tables, and chains of changes (extra ``ddl``: sqlglot)."""

from cdcwire_conformance.ddl.chain import Statement, TableChange, read_chain, read_chain_file
from cdcwire_conformance.ddl.tables import parse_ddl, read_ddl_file, sent_columns
from cdcwire_conformance.ddl.tokens import DdlError

__all__ = [
    "DdlError",
    "Statement",
    "TableChange",
    "parse_ddl",
    "read_chain",
    "read_chain_file",
    "read_ddl_file",
    "sent_columns",
]
