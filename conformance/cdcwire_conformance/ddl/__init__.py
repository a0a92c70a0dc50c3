"""CREATE TABLE statements as table definitions of the model (extra ``ddl``: sqlglot)."""

from cdcwire_conformance.ddl.errors import DdlError
from cdcwire_conformance.ddl.tables import parse_ddl, read_ddl_file, sent_columns

__all__ = ["DdlError", "parse_ddl", "read_ddl_file", "sent_columns"]
