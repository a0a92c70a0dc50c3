"""Buckets of an object store, by a client of its own kind (boto3)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cdcwire_evidence.scenarios import load_requirement

PART_SIZE = 5 << 20  # the smallest that S3 takes


def s3_client() -> Any:
    """Return a client of the store that the environment names."""
    return load_requirement("boto3", "S3").client("s3")


def make_bucket(name: str) -> str:
    """Make a bucket and return its URL; what fsspec knows of stores is forgotten."""
    load_requirement("s3fs", "S3").S3FileSystem.clear_instance_cache()
    s3_client().create_bucket(Bucket=name)
    return f"s3://{name}"


def name_of(bucket: str) -> str:
    """Return the name of a bucket's URL."""
    return bucket.removeprefix("s3://")


def keys(client: Any, name: str) -> Iterator[str]:
    """Yield the names of all objects."""
    for page in client.get_paginator("list_objects_v2").paginate(Bucket=name):
        for each in page.get("Contents", ()):
            yield each["Key"]


def objects(bucket: str) -> dict[str, bytes]:
    """Read all objects."""
    client, name = s3_client(), name_of(bucket)
    return {
        key: client.get_object(Bucket=name, Key=key)["Body"].read() for key in keys(client, name)
    }


def put_in_parts(bucket: str, key: str, value: bytes, *, is_completed: bool = True) -> None:
    """Upload an object in parts; one that is not completed is no object."""
    client, name = s3_client(), name_of(bucket)
    upload = client.create_multipart_upload(Bucket=name, Key=key)["UploadId"]
    parts = []
    for number, start in enumerate(range(0, len(value), PART_SIZE), start=1):
        body = value[start : start + PART_SIZE]
        target = {"Bucket": name, "Key": key, "UploadId": upload, "PartNumber": number}
        parts.append(
            {"PartNumber": number, "ETag": client.upload_part(**target, Body=body)["ETag"]}
        )
    if is_completed:
        client.complete_multipart_upload(
            Bucket=name, Key=key, UploadId=upload, MultipartUpload={"Parts": parts}
        )
