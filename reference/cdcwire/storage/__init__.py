"""The storage sink's layout: paths, schema files, index files, metadata, and the rules of a prefix.

Names and bytes in, names, bytes and values out: nothing here lists, reads or writes, and nothing
knows the time. The rows in data files belong to the formats of the sink.
"""

from cdcwire.storage.cutting import Cut, CuttingSettings, OpenFile, Part, add_part, flush, tick
from cdcwire.storage.expiration import is_expired
from cdcwire.storage.index_files import read_index, resume, write_index
from cdcwire.storage.metadata import (
    advance,
    read_metadata,
    row_is_complete,
    schema_is_complete,
    write_metadata,
)
from cdcwire.storage.paths import (
    DataPath,
    IndexPath,
    MetadataPath,
    PathLayout,
    SchemaPath,
    StoragePath,
    parse_path,
    path_text,
)
from cdcwire.storage.replay import (
    ApplySchema,
    Listing,
    ReadFile,
    Replay,
    ReplayState,
    RowGate,
    Skip,
    SkipReason,
    StreamGate,
    ddl_versions,
    replay,
)
from cdcwire.storage.rules import (
    Fault,
    RowMark,
    RowRules,
    check_names,
    check_puts,
    check_schema_file,
    check_versions,
)
from cdcwire.storage.schema_files import (
    SchemaColumn,
    SchemaFile,
    change_of,
    check_checksum,
    read_schema_file,
    schema_checksum,
    schema_file_of,
    schema_path_of,
    shipped_checksum,
    table_of,
    write_schema_file,
)
from cdcwire.storage.versions import VersionChoice, choose_version
from cdcwire.storage.writing import Put, flush_puts, schema_put

__all__ = [
    "ApplySchema",
    "Cut",
    "CuttingSettings",
    "DataPath",
    "Fault",
    "IndexPath",
    "Listing",
    "MetadataPath",
    "OpenFile",
    "Part",
    "PathLayout",
    "Put",
    "ReadFile",
    "Replay",
    "ReplayState",
    "RowGate",
    "RowMark",
    "RowRules",
    "SchemaColumn",
    "SchemaFile",
    "SchemaPath",
    "Skip",
    "SkipReason",
    "StoragePath",
    "StreamGate",
    "VersionChoice",
    "add_part",
    "advance",
    "change_of",
    "check_checksum",
    "check_names",
    "check_puts",
    "check_schema_file",
    "check_versions",
    "choose_version",
    "ddl_versions",
    "flush",
    "flush_puts",
    "is_expired",
    "parse_path",
    "path_text",
    "read_index",
    "read_metadata",
    "read_schema_file",
    "replay",
    "resume",
    "row_is_complete",
    "schema_checksum",
    "schema_file_of",
    "schema_is_complete",
    "schema_path_of",
    "schema_put",
    "shipped_checksum",
    "table_of",
    "tick",
    "write_index",
    "write_metadata",
    "write_schema_file",
]
