"""How DataHub's SDKs are asked and judged, with programs that stand in for them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from cdcwire.core.message import KafkaMessage
from cdcwire.datahub.fields import Field, FieldType
from cdcwire.datahub.frame import write_frame
from cdcwire_conformance.corpus.store import load_cases
from cdcwire_conformance.run.expected_failures import ExpectedFailure, ExpectedFailures
from cdcwire_conformance.testees import CannotStartError
from cdcwire_evidence.datahub.sdk_driver import Driver, Sdk, driver_of
from cdcwire_evidence.datahub.sdk_golden import cases_for_sdks, run_cases, served_of
from cdcwire_evidence.datahub.sdk_questions import QUESTIONS, Question
from cdcwire_evidence.datahub.sdk_witness import witness_of
from cdcwire_evidence.datahub.sdks import Finding, ask_all, known_faults, means_the_same, surprises
from cdcwire_evidence.datahub.service import Service
from cdcwire_evidence.report.datahub_golden import golden_lines
from cdcwire_evidence.report.datahub_sdks import datahub_sdks_part

BY_ID = {question.id: question for question in QUESTIONS}

# A program in JSON alone, without an SDK: it passes its input on. WRONG changes its values.
PROGRAM = """
import json, sys, urllib.request

def call(endpoint, method, path, document=None):
    body = None if document is None else json.dumps(document).encode()
    headers = {"content-type": "application/json"}
    url = f"{endpoint}/projects/p/topics/t{path}"
    request = urllib.request.Request(url, body, headers, method=method)
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.loads(response.read())

def wrong(values):
    return WRONG

for line in sys.stdin:
    asked = json.loads(line)
    if asked["cmd"] == "stop":
        break
    if asked["cmd"] == "start":
        said = {"name": "stand-in", "version": "1"}
    elif asked["encoding"] != "json":
        said = {"raised": "NotHere: JSON alone"}
    elif asked["cmd"] == "put":
        records = [
            {"Data": wrong(r["data"]), "Attributes": r.get("attributes", {})}
            for r in asked["records"]
        ]
        said = call(asked["endpoint"], "POST", "/shards", {"Action": "pub", "Records": records})
    else:
        try:
            found = call(asked["endpoint"], "POST", "/shards/0", {"Action": "sub"})
            records = [
                {"data": wrong(r["Data"]), "attributes": r.get("Attributes", {}),
                 "sequence": r["Sequence"], "system_time": r["SystemTime"]}
                for r in found["Records"]
            ]
            said = {"next_cursor": found["NextCursor"], "records": records}
        except ValueError as error:
            said = {"raised": str(error)}
    print(json.dumps(said), flush=True)
"""


def program(folder: Path, wrong: str = "values") -> Sdk:
    file = folder / "program.py"
    file.write_text(PROGRAM.replace("WRONG", wrong), encoding="utf-8")
    return Sdk("stand-in", (sys.executable, str(file)), "nothing", "program.py", ("none",))


def ask(sdk: Sdk, folder: Path, *questions: Question) -> list[Finding]:
    with Service() as service, driver_of(sdk, folder) as driver:
        found = ask_all(sdk, driver, service, questions)
    return [finding for finding in found if finding.encoding == "json"]


GOOD = ("integers", "double", "null-string", "changes", "attributes", "blob-message", "blob-empty")


def test_program_without_faults_has_no_findings(tmp_path: Path) -> None:
    found = ask(program(tmp_path), tmp_path, *(BY_ID[id_] for id_ in GOOD))
    assert [finding.id for finding in found if finding.problem] == []
    assert {finding.direction for finding in found} == {"put", "get"}


WRONG = {
    "NULL becomes a word": ("[str(v) for v in values]", "null-string", "'None' for None"),
    "integers lose digits": (
        "[str(int(float(v))) if v.lstrip('-').isdigit() else v for v in values]",
        "integers",
        "for '",
    ),
    "a value is left out": ("values[:-1]", "integers", "value"),
    "a blob is cut": ("values[:-4]", "blob-bytes", "blob"),
}


@pytest.mark.parametrize("fault", WRONG)
def test_program_with_a_fault_is_found_both_ways(tmp_path: Path, fault: str) -> None:
    wrong, question, problem = WRONG[fault]
    put, get = ask(program(tmp_path, wrong), tmp_path, BY_ID[question])
    assert put.problem
    assert problem in get.problem


def test_broken_answer_that_is_taken_is_found(tmp_path: Path) -> None:
    cut, taken = ask(program(tmp_path), tmp_path, BY_ID["broken-cut"], BY_ID["broken-tinyint"])
    assert cut.problem == ""
    assert taken.problem.startswith("takes it: ")


def test_raising_is_a_finding(tmp_path: Path) -> None:
    sdk = program(tmp_path)
    with Service() as service, driver_of(sdk, tmp_path) as driver:
        found = ask_all(sdk, driver, service, [BY_ID["boolean"]])
    assert {f.problem for f in found if f.encoding == "batch"} == {"raises NotHere: JSON alone"}


def test_program_that_is_missing_or_ends_at_once_cannot_start(tmp_path: Path) -> None:
    with pytest.raises(CannotStartError):
        Driver(program(tmp_path), tmp_path / "nowhere")
    ends = Sdk("ends", (sys.executable, "-c", "1"), "", ".", ())
    with pytest.raises(CannotStartError):
        Driver(ends, tmp_path)


def test_chapter_without_sdks_says_what_was_not_run(tmp_path: Path) -> None:
    part = datahub_sdks_part(load_cases(["datahub-tuple"]), root=tmp_path)
    assert (part.lines, part.failed) == ([], False)
    assert len(part.not_run) == 2


# ---- golden cases ----------------------------------------------------------------------------

ENTRY = b"J\x05\n\x03\n\x01x"  # a record of protobuf with the value x
PUT = write_frame(b"\n\x07" + ENTRY)
ANSWER = write_frame(b"\n\x04next\x10\x01\x18\x00" + b"\x22\x07" + ENTRY)


def served(value: bytes, **options: str) -> bytes | None:
    found = served_of(KafkaMessage(None, value), options)
    return None if found is None else found.body


def test_put_in_protobuf_is_served_with_its_records_byte_for_byte() -> None:
    assert served(PUT) == ANSWER
    assert served(ANSWER) == ANSWER


def test_put_in_json_is_served_with_its_data() -> None:
    found = served(b'{"Action":"pub","Records":[{"Data":["1",null]}]}')
    assert found is not None
    assert json.loads(found) == {
        "NextCursor": "next",
        "RecordCount": 1,
        "StartSeq": 0,
        "Records": [{"Sequence": 0, "SystemTime": 0, "Data": ["1", None]}],
    }


def test_broken_frame_is_served_as_it_is() -> None:
    broken = PUT[:-1] + b"y"
    assert served(broken) == broken


@pytest.mark.parametrize("value", [b"{}", b'{"Records":1}', b"\xff", b'{"schema":{},"payload":{}}'])
def test_invalid_body_is_not_served(value: bytes) -> None:
    assert served(value) is None


@pytest.mark.parametrize("body", [b"\n\x7fx", b"\x08\x01", b"\n", b"\n\xff\xff\xff\xff\xff"])
def test_frame_whose_entries_are_broken_is_not_served(body: bytes) -> None:
    assert served(write_frame(body), encoding="protobuf") is None


def test_golden_cases_are_asked_of_a_program(tmp_path: Path) -> None:
    asked = [
        case
        for case in cases_for_sdks(load_cases(["datahub-tuple"]))
        if case.expect == "accept"
        and case.group in ("document", "metadata", "types", "updates")
        and not case.options
        and b'"Action"' in (case.messages[0].value or b"")
    ]
    assert len(asked) > 10
    sdk = program(tmp_path)
    with Service() as service, driver_of(sdk, tmp_path) as driver:
        results = run_cases(asked, sdk.name, driver, service)
    bad = [outcome.id for outcome in results.outcomes if outcome.is_bad]
    assert bad == []
    lines = golden_lines([(sdk.name, results)])
    assert any(line.startswith("| rows | **") for line in lines)


def test_program_confirms_only_cases_that_it_reads(tmp_path: Path) -> None:
    asked = [
        case
        for case in cases_for_sdks(load_cases(["datahub-tuple"]))
        if case.id in ("datahub-tuple/document/rows-json", "datahub-tuple/document/rows-protobuf")
    ]
    sdk = program(tmp_path)
    with Service() as service, driver_of(sdk, tmp_path) as driver:
        results = run_cases(asked, sdk.name, driver, service)
    sums = {case.id: f"sum of {case.name}" for case in asked}
    found = witness_of("pydatahub", "1", results, sums)
    assert (found.name, found.version, found.language) == ("pydatahub", "1", "Python")
    assert found.read == {"datahub-tuple/document/rows-json": "sum of rows-json"}
    assert found.wrote == {}


def test_golden_cases_that_fail_are_listed(tmp_path: Path) -> None:
    asked = [
        case
        for case in cases_for_sdks(load_cases(["datahub-tuple"]))
        if case.id in ("datahub-tuple/fields/string-empty", "datahub-tuple/bodies/protobuf-put")
    ]
    sdk = program(tmp_path, "[v or 'x' for v in values]")
    with Service() as service, driver_of(sdk, tmp_path) as driver:
        results = run_cases(asked, sdk.name, driver, service)
    text = "\n".join(golden_lines([(sdk.name, results)]))
    assert "| values of fields | 0/1 |" in text
    assert 'got "x"' in text
    assert "NotHere: JSON alone" in text


# ---- known faults ----------------------------------------------------------------------------


def finding(question: str, problem: str) -> Finding:
    return Finding("sdk", "put", "json", BY_ID[question], problem)


def known(*entries: tuple[str, str]) -> ExpectedFailures:
    return ExpectedFailures([ExpectedFailure(id_, "a reason", part) for id_, part in entries])


def test_known_fault_is_not_a_surprise() -> None:
    found = [finding("float", "raises: no"), finding("double", "")]
    assert surprises(found, known(("sdk/put/*/float", "raises"))) == []


def test_new_fault_is_a_surprise() -> None:
    (line,) = surprises([finding("float", "raises: no")], known())
    assert line == "sdk/put/json/float: raises: no"


def test_other_fault_than_known_is_a_surprise() -> None:
    (line,) = surprises([finding("float", "'1' for '2'")], known(("sdk/put/json/float", "raises")))
    assert line.startswith("sdk/put/json/float: '1' for '2'")


@pytest.mark.parametrize("id_", ["sdk/put/json/float", "sdk/put/json/gone"])
def test_known_fault_that_disappeared_is_a_surprise(id_: str) -> None:
    (line,) = surprises([finding("float", "")], known((id_, "raises")))
    assert line.startswith(id_)


def test_known_faults_of_another_sdk_are_left_alone() -> None:
    assert surprises([finding("float", "")], known(("other/put/json/float", ""))) == []


def test_known_faults_name_questions_that_exist_one_by_one() -> None:
    for entry in known_faults().entries:
        assert not entry.is_pattern  # one of several that is no more would not be seen
        sdk, direction, encoding, question = entry.pattern.split("/")
        assert sdk in ("pydatahub", "aliyun-sdk-datahub")
        assert question in BY_ID
        assert direction in BY_ID[question].directions
        assert encoding in BY_ID[question].encodings


def test_questions_have_ids_and_titles_of_their_own() -> None:
    assert len(BY_ID) == len(QUESTIONS)
    assert len({question.title for question in QUESTIONS}) == len(QUESTIONS)


# ---- values ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("type_", "one", "other", "same"),
    [
        ("DOUBLE", "0.1", "1.0000000000000001e-01", True),
        ("DOUBLE", "0.0", "-0.0", False),
        ("DOUBLE", "nan", "NaN", True),
        ("DOUBLE", "inf", "Infinity", True),
        ("FLOAT", "0.10000000149011612", "0.1", True),
        ("DOUBLE", "0.10000000149011612", "0.1", False),
        ("DECIMAL", "1E+3", "1000", True),
        ("DECIMAL", "1", "None", False),
        ("BIGINT", "9223372036854775807", "9223372036854775807", True),
        ("BIGINT", "9223372036854775807", "9223372036854775808", False),
        ("BIGINT", "1", "None", False),
        ("STRING", "", None, False),
        ("STRING", None, None, True),
        ("BOOLEAN", "true", "True", False),
    ],
)
def test_texts_mean_the_same_by_value(
    type_: FieldType, one: str | None, other: str | None, same: bool
) -> None:
    assert means_the_same(Field("c", type_), one, other) is same
