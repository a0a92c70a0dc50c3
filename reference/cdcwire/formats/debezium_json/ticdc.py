"""Neutral events as the messages of TiCDC's ``debezium`` protocol.

Source: debezium-json, "ticdc"; pingcap/ticdc@b813e76.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from cdcwire.core.errors import EncodeError, step
from cdcwire.core.message import KafkaMessage
from cdcwire.debezium.ticdc import (
    CLAUSE,
    JsonParts,
    TicdcRow,
    check_written,
    cluster_of,
    envelope_schema,
    safe_name,
    sent_ms_of,
    source_json,
    source_schema,
    statement_parts,
    watermark_parts,
)
from cdcwire.debezium.ticdc_columns import field_schema, text_json, value_json
from cdcwire.formats.debezium_json.settings import Settings
from cdcwire.model.events import Event, Image, Progress, RowChange, SchemaChange, Table
from cdcwire.model.kinds import Column

_UNSAFE_IN_TABLES = re.compile(r"[^A-Za-z0-9_.]")  # their dots stay


def ticdc_messages(
    events: Iterable[Event], settings: Settings, tables: tuple[Table, ...]
) -> Iterator[KafkaMessage]:
    """Yield the message of each event. ``tables``: definitions of the tables of rows.

    Raises: EncodeError, OptionError.
    """
    check_written(settings)
    definitions = {(table.schema, table.name): table for table in tables}
    for index, event in enumerate(events):
        with step("events", index):
            match event:
                case RowChange():
                    known = definitions.get((event.table.schema, event.table.name))
                    parts = _row_parts(event, TicdcRow(event, known, settings.time_zone), settings)
                case Progress(what="watermark"):
                    parts = watermark_parts(event, settings)
                case SchemaChange():
                    parts = statement_parts(event, settings)
                case _:
                    what = type(event).__name__
                    raise EncodeError(f"a {what} of this kind has no form in TiCDC's", CLAUSE)
            key, value = parts.texts(has_schemas=settings.schemas_enable != "false")
        compression = settings.compression
        if compression is not None:
            key, value = compression.compress(key), compression.compress(value)
        yield KafkaMessage(key, value)


def _row_parts(event: RowChange, row: TicdcRow, settings: Settings) -> JsonParts:
    cluster = cluster_of(event.extra.get("cluster_id"), settings)
    table = event.table
    table_name = safe_name(table.name or "", _UNSAFE_IN_TABLES)
    name = ".".join((safe_name(cluster), safe_name(table.schema or ""), table_name))
    members = [
        f'"source":{source_json(table, event.position, cluster, settings, is_row=True)}',
        f'"ts_ms":{sent_ms_of(event.position)}',
        '"transaction":null',
        f'"op":"{row.op}"',
        *_images(event, row, settings),
    ]
    return JsonParts(
        _row_json(row, row.image, only_key=True),
        _key_schema(name, row, settings),
        f"{{{','.join(members)}}}",
        _schema(name, row, settings),
    )


def _images(event: RowChange, row: TicdcRow, settings: Settings) -> list[str]:
    before, after = (
        None if image is None else f'"{name}":{_image(name, row, image)}'
        for name, image in (("before", event.before), ("after", event.after))
    )
    if row.op == "c":
        return ['"before":null', after or ""]
    if row.op == "d":
        return ['"after":null', before or ""]
    has_before = before is not None and settings.output_old_value
    return [before or "", after or ""] if has_before else [after or ""]


def _image(name: str, row: TicdcRow, image: Image) -> str:
    with step(name):
        return _row_json(row, image)


def _row_json(row: TicdcRow, image: Image, *, only_key: bool = False) -> str:
    members = []
    for column, value in row.pairs(image, only_key=only_key):
        with step(column.name):
            members.append(f"{text_json(column.name)}:{value_json(column, value)}")
    return f"{{{','.join(members)}}}"


def _key_schema(name: str, row: TicdcRow, settings: Settings) -> str:
    fields = _fields([column for column in row.listed if column.name in row.key], settings)
    head = f'"type":"struct","name":{text_json(f"{name}.Key")},"optional":false'
    return f'{{{head},"fields":[{fields}]}}'


def _schema(name: str, row: TicdcRow, settings: Settings) -> str:
    rows = []
    fields = _fields(row.listed, settings)
    for each in ("before", "after"):
        head = f'"type":"struct","optional":true,"name":{text_json(f"{name}.Value")}'
        rows.append(f'{{{head},"field":"{each}","fields":[{fields}]}}')
    return envelope_schema(name, (*rows, source_schema(settings, is_row=True)))


def _fields(columns: Iterable[Column], settings: Settings) -> str:
    texts = []
    for column in columns:
        with step(column.name):
            texts.append(field_schema(column, has_tidb_type=settings.tidb_extension))
    return ",".join(texts)
