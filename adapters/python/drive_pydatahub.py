"""DataHub's SDK for Python, unchanged, driven by cdcwire: it puts records, and gets them.

A request is a line of JSON, an answer another. ``put`` and ``get`` name the encoding, the
compression and an endpoint. The program asks the service for the topic's schema and its shard, as a
user's program does. Values travel as texts, NULL as null, blobs in base64. An error that the SDK
raises is an answer, too.
"""

from __future__ import annotations

import base64
import json
import logging
import sys
import warnings
from collections.abc import Callable
from decimal import Decimal
from typing import Any

warnings.simplefilter("ignore")  # the SDK's own, of calls that are out of date

from datahub import DataHub  # noqa: E402
from datahub.core import DatahubProtocolType  # noqa: E402
from datahub.models import (  # noqa: E402
    BlobRecord,
    CompressFormat,
    CursorType,
    FieldType,
    RecordSchema,
    RecordType,
    TupleRecord,
)
from datahub.version import __version__  # noqa: E402

PROTOCOLS = {
    "json": DatahubProtocolType.JSON,
    "protobuf": DatahubProtocolType.PB,
    "batch": DatahubProtocolType.BATCH,
}
COMPRESSIONS = {
    "none": CompressFormat.NONE,
    "deflate": CompressFormat.DEFLATE,
    "lz4": CompressFormat.LZ4,
    "zlib": CompressFormat.ZLIB,
}
PROJECT, TOPIC = "cdcwire", "changes"
LIMIT = 10000

FROM_TEXT: dict[FieldType, Callable[[str], Any]] = {
    FieldType.TINYINT: int,
    FieldType.SMALLINT: int,
    FieldType.INTEGER: int,
    FieldType.BIGINT: int,
    FieldType.TIMESTAMP: int,
    FieldType.FLOAT: float,
    FieldType.DOUBLE: float,
    FieldType.BOOLEAN: "true".__eq__,
    FieldType.DECIMAL: Decimal,
    FieldType.STRING: str,
}


def client(request: dict[str, Any]) -> DataHub:
    """Return a client.

    A fixed user agent: the SDK's default would ask for this machine's address.
    """
    return DataHub(
        "id",
        "key",
        request["endpoint"],
        protocol_type=PROTOCOLS[request["encoding"]],
        compress_format=COMPRESSIONS[request["compression"]],
        user_agent="cdcwire",
        retry_times=0,
        read_timeout=20,
    )


def put(request: dict[str, Any]) -> dict[str, Any]:
    """Put the records of a request."""
    hub = client(request)
    topic = hub.get_topic(PROJECT, TOPIC)
    is_tuple = topic.record_type is RecordType.TUPLE
    schema: RecordSchema | None = topic.record_schema if is_tuple else None
    shard = hub.list_shard(PROJECT, TOPIC).shards[0].shard_id
    records = [record(schema, each) for each in request["records"]]
    if request["encoding"] == "json":
        result = hub.put_records(PROJECT, TOPIC, records)
        return {"failed": result.failed_record_count}
    hub.put_records_by_shard(PROJECT, TOPIC, shard, records)
    return {"failed": 0}


def record(schema: RecordSchema | None, request: dict[str, Any]) -> BlobRecord | TupleRecord:
    """Return a record of the SDK."""
    found: BlobRecord | TupleRecord
    if schema is None:
        found = BlobRecord(blob_data=base64.b64decode(request["data"]))
    else:
        values = [
            None if text is None else FROM_TEXT[field.type](text)
            for field, text in zip(schema.field_list, request["data"], strict=True)
        ]
        found = TupleRecord(schema=schema, values=values)
    for key, value in request.get("attributes", {}).items():
        found.put_attribute(key, value)
    if "hash_key" in request:
        found.hash_key = request["hash_key"]
    if "partition_key" in request:
        found.partition_key = request["partition_key"]
    return found


def get(request: dict[str, Any]) -> dict[str, Any]:
    """Get records from the beginning of the shard."""
    hub = client(request)
    topic = hub.get_topic(PROJECT, TOPIC)
    shard = hub.list_shard(PROJECT, TOPIC).shards[0].shard_id
    cursor = hub.get_cursor(PROJECT, TOPIC, shard, CursorType.OLDEST).cursor
    if topic.record_type is RecordType.TUPLE:
        schema = topic.record_schema
        result = hub.get_tuple_records(PROJECT, TOPIC, shard, schema, cursor, LIMIT)
    else:
        result = hub.get_blob_records(PROJECT, TOPIC, shard, cursor, LIMIT)
    return {
        "next_cursor": result.next_cursor,
        "records": [
            {
                "data": data_of(each),
                "attributes": each.attributes or {},
                "sequence": each.sequence,
                "system_time": each.system_time,
            }
            for each in result.records
        ],
    }


def data_of(found: BlobRecord | TupleRecord) -> str | list[str | None]:
    """Return a blob in base64, or the texts of a tuple's values."""
    if isinstance(found, BlobRecord):
        return base64.b64encode(found.blob_data).decode("ascii")
    return [text_of(value) for value in found.values]


def text_of(value: Any) -> str | None:
    """Return the text of a value; that of a boolean in lower case."""
    if value is None or isinstance(value, str):
        return value
    return str(value).lower() if isinstance(value, bool) else str(value)


VERBS = {"put": put, "get": get}


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Return the answer to a request; whatever the SDK raises is one."""
    try:
        return VERBS[request["cmd"]](request)
    except Exception as error:  # noqa: BLE001 - what an SDK raises is what is measured
        return {"raised": f"{type(error).__name__}: {words_of(error)}"}


def words_of(error: Exception) -> str:
    """Return what an error says. The SDK's own can't say it where they were made with two texts."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - as above
        return repr(error.args)


def main() -> None:
    logging.disable()
    for line in sys.stdin:
        request = json.loads(line)
        if request["cmd"] == "stop":
            break
        if request["cmd"] == "start":
            said: dict[str, Any] = {"name": "pydatahub", "version": __version__}
        else:
            said = answer(request)
        sys.stdout.write(json.dumps(said) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
