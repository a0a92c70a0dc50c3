"""DDL as table definitions of the model: tables, and chains of changes (extra ``ddl``: sqlglot)."""

from cdcwire.ddl.chain import Statement, TableChange, read_chain, read_chain_file
from cdcwire.ddl.tables import parse_ddl, read_ddl_file, read_definitions, sent_columns
from cdcwire.ddl.tokens import DdlError

__all__ = [
    "DdlError",
    "Statement",
    "TableChange",
    "parse_ddl",
    "read_chain",
    "read_chain_file",
    "read_ddl_file",
    "read_definitions",
    "sent_columns",
]
