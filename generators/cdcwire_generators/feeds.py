"""What a feed of each format is made of: what its producer has, and what its encoder must be told.

One entry a format. ``domain`` draws streams by it, ``carried`` predicts by it. What a format says
of itself (``Format.carries``) is not repeated here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from cdcwire.model.events import MarkerKind, ProgressKind


@dataclass(frozen=True, slots=True)
class Feed:
    """The habits of one format's feeds.

    ``family``: the source database. ``progress``: what progress says, under the default options;
    None: nothing. ``markers``: those there are; with ``has_marker_ids`` each has the id of a
    transaction. ``position_fields``: what rows must have beside commit_ts. ``has_path_names``:
    names of schemas and tables are directories. ``has_field_names``: names are those that Avro
    keeps. ``needs_key``: a table has one. ``has_one_table``: so has a
    topic. ``has_reads``: rows of a snapshot are told as read. ``needs_queries``: a schema change
    has a statement that is not empty. ``has_statements``: it is told. ``is_plausible``: there is
    nothing but what a producer writes.
    ``shared_clauses``: pages whose clauses errors name beside the format's own.
    """

    family: str = "mysql"
    progress: ProgressKind | None = None
    markers: tuple[MarkerKind, ...] = ()
    has_marker_ids: bool = True
    position_fields: tuple[str, ...] = ()
    has_path_names: bool = False
    has_field_names: bool = False
    needs_key: bool = False
    has_one_table: bool = False
    has_reads: bool = False
    has_statements: bool = True
    needs_queries: bool = False
    is_plausible: bool = False
    shared_clauses: tuple[str, ...] = ()


_CRAFT = Feed(progress="resolved")
# Its formats take a column from its declaration.
_OF_STORAGE = Feed(
    family="mysql declared", has_path_names=True, is_plausible=True, shared_clauses=("storage",)
)
_OF_DATAHUB = Feed(
    family="datahub",
    position_fields=("sequence_id", "commit_ms"),
    is_plausible=True,
    shared_clauses=("datahub",),
)
_OF_CONNECT = Feed(
    family="postgresql",
    position_fields=("lsn", "tx_id", "commit_ms"),
    has_reads=True,
    is_plausible=True,
    shared_clauses=("connect",),
)
_BY_NAME: Mapping[str, Feed] = MappingProxyType(
    {
        "craft": _CRAFT,
        "craft-proposal": _CRAFT,
        "open-protocol": _CRAFT,
        "csv": replace(_OF_STORAGE, progress="checkpoint"),
        "canal-json": replace(_OF_STORAGE, progress="watermark"),
        # A column comes from its declaration too; a row that is deleted needs a handle key.
        "avro": Feed(
            "mysql indexed", "checkpoint", has_field_names=True, needs_key=True, is_plausible=True
        ),
        "datahub-tuple": replace(_OF_DATAHUB, has_one_table=True),
        "datahub-blob": replace(
            _OF_DATAHUB,
            progress="heartbeat",
            markers=("begin", "end", "gtid", "xa_commit", "xa_rollback"),
            has_marker_ids=False,
            position_fields=(*_OF_DATAHUB.position_fields, "sent_ms"),
            needs_queries=True,
        ),
        "cdl-json": replace(_OF_CONNECT, family="postgresql by cdl"),
        "debezium-json": replace(
            _OF_CONNECT,
            progress="heartbeat",
            markers=("begin", "end", "logical_message"),
            has_statements=False,
            position_fields=(*_OF_CONNECT.position_fields, "sent_ms"),
        ),
    }
)
_PLAIN = Feed()


def feed_of(format_name: str) -> Feed:
    """Return the habits of a format; of one that is not known here, the plainest."""
    return _BY_NAME.get(format_name, _PLAIN)


def clauses_of(format_name: str) -> tuple[str, ...]:
    """Return how the clauses begin that errors of a format may name."""
    pages = (format_name, *feed_of(format_name).shared_clauses)
    return tuple(f"{page}: " for page in pages)
