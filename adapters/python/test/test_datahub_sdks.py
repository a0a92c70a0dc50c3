"""DataHub's SDKs as witnesses: what they write and read is what is known of them."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from cdcwire.datahub.body import BodySettings, read_body
from cdcwire_conformance.corpus.store import load_cases
from cdcwire_evidence.datahub.sdk_driver import SDKS, Driver, Sdk, driver_of
from cdcwire_evidence.datahub.sdk_golden import cases_for_sdks, run_cases
from cdcwire_evidence.datahub.sdk_questions import QUESTIONS
from cdcwire_evidence.datahub.sdks import ask_all, known_faults, surprises
from cdcwire_evidence.datahub.service import Service

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "datahub-sdks.md"
BY_NAME = {sdk.name: sdk for sdk in SDKS}
BY_ID = {question.id: question for question in QUESTIONS}


def skip_without(sdk: Sdk) -> None:
    if sdk.name == "pydatahub" and importlib.util.find_spec("datahub") is None:
        pytest.skip("pydatahub is not installed: adapters/python/requirements.txt")
    if sdk.name != "pydatahub" and not ((ROOT / sdk.needs).exists() and shutil.which("java")):
        pytest.skip(f"{sdk.needs} is not here: {sdk.install}")


@pytest.fixture(params=list(BY_NAME))
def sdk(request: pytest.FixtureRequest) -> Sdk:
    found = BY_NAME[request.param]
    skip_without(found)
    return found


@pytest.fixture
def service() -> Iterator[Service]:
    with Service() as found:
        yield found


@pytest.fixture
def driver(sdk: Sdk, service: Service) -> Iterator[Driver]:
    with driver_of(sdk, ROOT) as found:
        yield found


def test_sdk_has_the_faults_that_are_known_and_no_others(
    sdk: Sdk, driver: Driver, service: Service
) -> None:
    findings = ask_all(sdk, driver, service)
    assert surprises(findings, known_faults()) == []
    assert {(f.direction, f.encoding) for f in findings} == {
        (direction, encoding)
        for direction in ("put", "get")
        for encoding in ("json", "protobuf", "batch")
    }


def test_sdk_is_used_as_a_program_uses_it(sdk: Sdk, driver: Driver, service: Service) -> None:
    ask_all(sdk, driver, service, [BY_ID["boolean"]])
    calls = service.take_calls()
    for call in ("get topic", "list shards", "put records", "get cursor OLDEST", "get records"):
        assert call in calls


def test_version_is_the_one_that_the_faults_were_seen_in(sdk: Sdk, driver: Driver) -> None:
    assert f"{sdk.name} {driver.version}" in PAGE.read_text(encoding="utf-8")


# The valid ones that an SDK does not read as they are meant.
GOLDEN_FAULTS = {
    "pydatahub": {
        "datahub-blob/bodies/batch-deflate",
        "datahub-tuple/bodies/batch-deflate",
        "datahub-tuple/producer/java-protobuf",  # a STRING that is NULL
        "datahub-tuple/types/zero-and-null-protobuf",  # the same
    },
    "aliyun-sdk-datahub": {  # zlib, which it does not know
        "datahub-blob/bodies/batch-zlib",
        "datahub-tuple/bodies/batch-two-puts",
        "datahub-tuple/bodies/batch-zlib",
    },
}


def test_golden_cases_that_are_valid_are_read_but_for_known_ones(
    sdk: Sdk, driver: Driver, service: Service
) -> None:
    asked = [case for case in cases_for_sdks(load_cases()) if case.expect == "accept"]
    results = run_cases(asked, sdk.name, driver, service)
    bad = {outcome.id for outcome in results.outcomes if outcome.is_bad}
    assert bad == GOLDEN_FAULTS[sdk.name]


# ---- the page --------------------------------------------------------------------------------


def test_code_on_the_page_puts_and_gets_null(service: Service) -> None:
    skip_without(BY_NAME["pydatahub"])
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (code,) = (block for block in blocks if "put_records_by_shard" in block)
    fields = BY_ID["null-integers"].fields
    service.set_topic(fields)
    head = f"""
        import warnings
        warnings.simplefilter("ignore")
        endpoint = {service.endpoint!r}
        rows = [["1", "I", 0, "t", "N", "Y", None, 2, 3, None]]
    """
    ended = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(head) + code],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.stderr == ""
    (put,) = service.take_puts()
    body = read_body(put.body, fields, BodySettings(), put.headers)
    assert [record.data for record in body.records()] == [
        ("1", "I", 0, "t", "N", "Y", None, 2, 3, None)
    ]
