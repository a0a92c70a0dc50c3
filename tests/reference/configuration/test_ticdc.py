"""Changefeeds of TiCDC as formats and options."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from cdcwire.configuration import ConfigurationError, read_ticdc
from cdcwire.configuration.found import public_address
from cdcwire.core.options import ANY_VALUE
from cdcwire.registry import FORMAT_NAMES, get_format

if sys.version_info < (3, 11):
    pytest.importorskip("tomli")

# The sink URI of TiCDC's page about Kafka.
KAFKA_URI = (
    "kafka://127.0.0.1:9092/topic-name?protocol=canal-json&kafka-version=2.4.0&partition-num=6"
    "&max-message-bytes=67108864&replication-factor=1"
)

# Sections and settings of TiCDC's page about changefeeds, with values other than the defaults.
CSV_FILE = """
case-sensitive = false

[filter]
rules = ['*.*', '!test.*']

[mounter]
worker-num = 16

[sink]
protocol = "csv"
terminator = "\\n"
date-separator = 'month'
enable-partition-separator = false
file-index-digit = 6

[sink.csv]
delimiter = '|'
quote = ''
null = 'NULL'
include-commit-ts = true
binary-encoding-method = 'hex'
output-old-value = true
output-handle-key = true

[sink.cloud-storage-config]
worker-count = 16
flush-interval = "2s"
file-size = 1048576
file-expiration-days = 0
"""
LARGE_FILE = """
[integrity]
integrity-check-level = "correctness"
corruption-handle-level = "warn"

[sink]
protocol = "open-protocol"
only-output-updated-columns = true
delete-only-output-handle-key-columns = true
dispatchers = [{matcher = ['test.*'], topic = "{schema}_{table}", partition = "ts"}]

[sink.open]
output-old-value = false

[sink.kafka-config]
max-message-bytes = 4096
sasl-user = "alice"
sasl-password = "alice-secret"

[sink.kafka-config.codec-config]
max-batch-size = 32

[sink.kafka-config.large-message-handle]
large-message-handle-option = "claim-check"
large-message-handle-compression = "lz4"
claim-check-storage-uri = "s3://alice:hidden@bucket/checks?access-key=AK&secret-access-key=SK"
claim-check-raw-value = true
"""


# All settings of pingcap/ticdc@b813e76, its branch for release 8.5.5 of 13 Feb 2026 included.
SINK_SETTINGS = """
sink: transaction-atomicity dispatchers column-selectors encoder-concurrency terminator
 date-separator enable-partition-separator file-index-digit enable-kafka-sink-v2
 only-output-updated-columns delete-only-output-handle-key-columns content-compatible safe-mode
 advance-timeout-in-sec send-bootstrap-interval-in-sec send-bootstrap-in-msg-count
 send-bootstrap-to-all-partition send-all-bootstrap-at-start debezium-disable-schema case-sensitive
 force-replicate only-output-pk-columns schema-registry
sink.csv: delimiter quote null include-commit-ts binary-encoding-method output-old-value
 output-handle-key output-field-header
sink.open: output-old-value
sink.debezium: output-old-value include-start-ts
sink.integrity: integrity-check-level corruption-handle-level
sink.kafka-config: partition-num replication-factor kafka-version max-message-bytes compression
 kafka-client-id auto-create-topic dial-timeout write-timeout read-timeout required-acks sasl-user
 sasl-password sasl-mechanism sasl-gssapi-auth-type sasl-gssapi-keytab-path
 sasl-gssapi-kerberos-config-path sasl-gssapi-service-name sasl-gssapi-user sasl-gssapi-password
 sasl-gssapi-realm sasl-gssapi-disable-pafxfast sasl-oauth-client-id sasl-oauth-client-secret
 sasl-oauth-token-url sasl-oauth-scopes sasl-oauth-grant-type sasl-oauth-audience enable-tls ca cert
 key insecure-skip-verify output-raw-change-event
sink.kafka-config.codec-config: enable-tidb-extension max-batch-size avro-enable-watermark
 avro-decimal-handling-mode avro-bigint-unsigned-handling-mode avro-include-before-value
 encoding-format output-row-key
sink.kafka-config.large-message-handle: large-message-handle-option
 large-message-handle-compression claim-check-storage-uri claim-check-raw-value
sink.kafka-config.glue-schema-registry-config: registry-name region access-key secret-access-key
 token
sink.pulsar-config: compression-type pulsar-version output-raw-change-event
sink.mysql-config: worker-count time-zone async-ddl-timeout
sink.cloud-storage-config: worker-count flush-interval file-size spool-disk-quota spool-base-dir
 output-column-id file-expiration-days file-cleanup-cron-spec flush-concurrency use-table-id-as-path
 output-raw-change-event
"""
ALL_SETTINGS = f"""
root: performance-mode memory-quota case-sensitive force-replicate check-gc-safe-point
 enable-sync-point enable-table-monitor ignore-ineligible-table bdr-mode sync-point-interval
 sync-point-retention changefeed-error-stuck-duration enable-active-active
 active-active-progress-interval active-active-sync-stats-interval event-collector-batch-count
 event-collector-batch-bytes sql-mode
filter: rules ignore-txn-start-ts event-filters
mounter: worker-num
consistent: level storage flush-interval use-file-backend
consistent.memory-usage: memory-quota-percentage
scheduler: enable-table-across-nodes region-threshold write-key-threshold enable-splittable-check
 force-split
integrity: integrity-check-level corruption-handle-level
synced-status: synced-check-interval checkpoint-interval
{SINK_SETTINGS}
"""
PARAMETERS = """
 enable-tidb-extension max-batch-size max-message-bytes avro-decimal-handling-mode
 avro-bigint-unsigned-handling-mode avro-include-before-value avro-enable-watermark schema-registry
 only-output-updated-columns content-compatible debezium-disable-schema debezium-include-start-ts
 encoding-format output-row-key only-output-pk-columns partition-num replication-factor
 kafka-version max-retry compression kafka-client-id auto-create-topic dial-timeout write-timeout
 read-timeout required-acks sasl-user sasl-password sasl-mechanism sasl-gssapi-auth-type enable-tls
 ca cert key insecure-skip-verify worker-count flush-interval file-size use-table-id-as-path
 spool-disk-quota spool-base-dir transaction-atomicity
"""


@pytest.fixture
def write(tmp_path: Path) -> Path:
    return tmp_path / "changefeed.toml"


def options(uri: str | None, text: str | None, file: Path) -> tuple[str, dict[str, object]]:
    if text is not None:
        file.write_text(text)
    found = read_ticdc(uri, None if text is None else str(file))
    assert found.warnings == ()
    name = found.format_for(None)
    values, warnings = found.options_for(name)
    assert warnings == []
    return name, dict(values)


def problem(uri: str | None, text: str | None, file: Path) -> str:
    with pytest.raises(ConfigurationError) as caught:
        options(uri, text, file)
    return str(caught.value).replace(str(file), "FILE")


def test_a_sink_uri_gives_format_and_options(write: Path) -> None:
    assert options(KAFKA_URI, None, write) == ("canal-json", {"max-message-bytes": 67108864})


def test_a_changefeed_gives_the_options_of_its_files(write: Path) -> None:
    assert options(None, CSV_FILE, write) == (
        "csv",
        {
            "terminator": "\n",
            "date-separator": "month",
            "enable-partition-separator": False,
            "file-index-digit": 6,
            "delimiter": "|",
            "quote": "",
            "null": "NULL",
            "include-commit-ts": True,
            "binary-encoding-method": "hex",
            "output-old-value": True,
            "output-handle-key": True,
            "file-size": 1048576,
        },
    )


def test_a_changefeed_gives_the_options_of_its_messages_without_secrets(write: Path) -> None:
    assert options(None, LARGE_FILE, write) == (
        "open-protocol",
        {
            "max-message-bytes": 4096,
            "max-batch-size": 32,
            "delete-only-output-handle-key-columns": True,
            "only-output-updated-columns": True,
            "output-old-value": False,
            "large-message-handle-option": "claim-check",
            "large-message-handle-compression": "lz4",
            "claim-check-storage-uri": "s3://bucket/checks",
        },
    )


def test_avro_gets_its_modes_its_checksum_and_its_registry(write: Path) -> None:
    uri = (
        "kafka://broker/t?protocol=avro&enable-tidb-extension=true"
        "&avro-decimal-handling-mode=string&avro-bigint-unsigned-handling-mode=string"
    )
    text = (
        '[integrity]\nintegrity-check-level = "correctness"\n'
        "[sink.kafka-config.glue-schema-registry-config]\n"
        'region = "us-west-1"\nregistry-name = "ticdc-test"\nsecret-access-key = "SK"\n'
    )
    assert options(uri, text, write) == (
        "avro",
        {
            "enable-tidb-extension": True,
            "avro-decimal-handling-mode": "string",
            "avro-bigint-unsigned-handling-mode": "string",
            "integrity": True,
            "registry": "glue",
        },
    )


def test_simple_gets_its_encoding_and_its_large_messages(write: Path) -> None:
    uri = "kafka://b/t?protocol=simple&encoding-format=avro&max-message-bytes=2000"
    text = """
[sink.kafka-config.large-message-handle]
large-message-handle-option = "claim-check"
claim-check-storage-uri = "s3://claims"
claim-check-raw-value = true
"""
    assert options(uri, text, write) == (
        "simple",
        {
            "encoding-format": "avro",
            "max-message-bytes": 2000,
            "large-message-handle-option": "claim-check",
            "claim-check-storage-uri": "s3://claims",
            "claim-check-raw-value": True,
        },
    )


def test_the_sink_uri_overrides_the_file(write: Path) -> None:
    uri = "kafka://broker/t?protocol=craft&max-batch-size=3"
    text = '[sink]\nprotocol = "csv"\n[sink.kafka-config.codec-config]\nmax-batch-size = 9\n'
    assert options(uri, text, write) == ("craft", {"max-batch-size": 3})


@pytest.mark.parametrize("scheme", ["s3", "gcs", "azure", "file"])
def test_a_storage_sink_has_files(scheme: str, write: Path) -> None:
    uri = f"{scheme}://bucket/prefix?protocol=canal-json"
    assert options(uri, None, write) == ("canal-json", {"transport": "storage"})


def test_an_empty_terminator_is_the_default(write: Path) -> None:
    text = '[sink]\nprotocol = "csv"\nterminator = ""\n'
    assert options(None, text, write) == ("csv", {"terminator": "\r\n"})


def test_the_first_of_repeated_parameters_counts(write: Path) -> None:
    uri = "kafka://b/t?protocol=craft&max-batch-size=2&max-batch-size=3"
    assert options(uri, None, write) == ("craft", {"max-batch-size": 2})


@pytest.mark.parametrize(
    ("text", "value"), [("1", True), ("t", True), ("TRUE", True), ("0", False)]
)
def test_a_sink_uri_has_the_boolean_values_of_go(text: str, value: bool, write: Path) -> None:
    uri = f"kafka://b/t?protocol=canal-json&enable-tidb-extension={text}"
    assert options(uri, None, write) == ("canal-json", {"enable-tidb-extension": value})


def test_without_a_protocol_the_user_names_the_format(write: Path) -> None:
    found = read_ticdc("s3://bucket/prefix", None)
    assert found.format_for("csv") == "csv"
    with pytest.raises(ConfigurationError, match="no protocol is set: the format is"):
        found.format_for(None)
    with pytest.raises(ConfigurationError, match="not craft"):
        found.format_for("craft")


def test_unknown_settings_are_named_and_settings_of_other_formats_are_not(write: Path) -> None:
    write.write_text('x = 1\n[sink]\nprotocol = "craft"\n[sink.csv]\nquote = ""\ndelimeter = ","\n')
    [warning] = read_ticdc(None, str(write)).warnings
    assert warning == f"{write}: ignored: unknown settings x, sink.csv.delimeter"
    [warning] = read_ticdc("kafka://b/t?protocol=craft&max-batch-sise=2", None).warnings
    assert warning == "sink URI: ignored: unknown parameter max-batch-sise"


def test_no_setting_of_the_newest_producer_is_unknown(write: Path) -> None:
    text = ""
    for section in ALL_SETTINGS.replace("\n ", " ").split("\n"):
        name, _, settings = section.partition(":")
        text += f"[{name}]\n" if name not in ("", "root") else ""
        text += "".join(f"{each} = 0\n" for each in settings.split())
    write.write_text(text)
    parameters = "&".join(f"{name}=0" for name in PARAMETERS.split())
    uri = f"kafka://b/t?protocol=canal-json&{parameters}"
    assert read_ticdc(uri, str(write)).warnings == ()


def test_the_end_of_a_secret_with_an_ampersand_is_not_shown(write: Path) -> None:
    uri = "kafka://b/t?protocol=craft&sasl-password=half&other=half"
    [warning] = read_ticdc(uri, None).warnings
    assert warning == "sink URI: ignored: unknown parameter number 3"


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("mysql://root:123456@127.0.0.1:3306/", "a changefeed to mysql:// sends no messages"),
        ("//[x", "it is not a URI"),
        ("kafka://b/t?protocol=maxwell", "'maxwell' is not a protocol that can be read"),
        ("kafka://b/t?protocol=csv", "kafka:// does not have this format"),
        ("s3://b/t?protocol=craft", "s3:// does not have this format"),
        ("kafka://b/t?protocol=craft&max-batch-size=x", "'x' is not a number from 0"),
        ("ftp://alice:secret@b/t", "it does not begin with one of azblob://"),
    ],
)
def test_a_sink_uri_that_cannot_be_used_is_one_error(uri: str, expected: str, write: Path) -> None:
    text = problem(uri, None, write)
    assert text.startswith("sink URI: ")
    assert expected in text
    assert "secret" not in text
    assert "123456" not in text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[sink\n", "FILE: not TOML at line 1, column 6"),
        ("a." * 50_000 + "a = 1", "FILE: nested too deeply"),
        ("[" + "a . " * 200 + "a]", "FILE: nested too deeply"),
        ("#" * 1_100_000, "FILE: more than 1,048,576 characters"),
        ("a = " + "[" * 9000, "FILE: n"),
        ('[sink]\nprotocol = "csv"\n[sink.csv]\nquote = [1]\n', "FILE: sink.csv.quote: is not a"),
        (
            '[sink]\nprotocol = "csv"\n[sink.csv]\nnull = true\n',
            "FILE: sink.csv.null: 'true' is not text",
        ),
        (
            '[sink]\nprotocol = "csv"\ndate-separator = "hour"\n',
            "FILE: sink.date-separator: 'hour' is not one of 'none', 'year', 'month', 'day'",
        ),
        (
            '[sink]\nprotocol = "avro"\n[integrity]\nintegrity-check-level = "full"\n',
            "FILE: integrity.integrity-check-level: 'full' is not one of 'none', 'correctness'",
        ),
    ],
)
def test_a_changefeed_that_cannot_be_used_is_one_error(
    text: str, expected: str, write: Path
) -> None:
    assert problem(None, text, write).startswith(expected)


def test_a_file_that_is_not_there_or_not_text_is_one_error(write: Path) -> None:
    assert problem_of_bytes(write, None) == "FILE: No such file or directory"
    assert problem_of_bytes(write, b"a = '\xff'") == "FILE: byte 5 is not UTF-8"


def problem_of_bytes(file: Path, raw: bytes | None) -> str:
    if raw is not None:
        file.write_bytes(raw)
    with pytest.raises(ConfigurationError) as caught:
        read_ticdc(None, str(file))
    return str(caught.value).replace(str(file), "FILE")


def test_an_option_has_the_name_of_its_setting() -> None:
    """A setting of another name says which of its values gives which of the option's."""
    for name in FORMAT_NAMES:
        for option in get_format(name).options:
            for setting in option.settings:
                if setting.kind != "connector" and not setting.values:
                    assert setting.name.rpartition(".")[2] == option.name


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("http://registry:8081", "http://registry:8081"),
        ("http://alice:secret@registry:8081/base", "http://registry:8081/base"),
        ("http://alice:se/cret@registry", "http://registry"),
        ("http://alice:se?cret@registry", "http://registry"),
        ("alice:secret@registry", "registry"),
        ("s3://bucket/checks?endpoint=a@b&secret-access-key=secret", "s3://bucket/checks"),
    ],
)
def test_an_address_is_shown_without_secrets(address: str, shown: str) -> None:
    assert public_address(address) == shown


def test_each_protocol_names_one_format() -> None:
    protocols = [each for name in FORMAT_NAMES for each in get_format(name).protocols]
    assert len(protocols) == len(set(protocols))


def page_rows(mark: str) -> list[list[str]]:
    """Return the rows of a table of the how-to page, by the comment before it."""
    page = Path(__file__).parents[3] / "docs" / "how-to" / "use-your-configuration.md"
    lines = page.read_text(encoding="utf-8").partition(f"<!-- {mark} -->\n")[2].splitlines()[2:]
    rows = lines[: lines.index("")]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def test_the_page_lists_the_protocols() -> None:
    declared = {name: get_format(name).protocols for name in FORMAT_NAMES}
    listed = {name: re.findall("`(.+?)`", texts) for texts, name in page_rows("protocols")}
    assert listed == {name: sorted(each) for name, each in declared.items() if each}


def test_the_page_lists_the_values_that_have_another_form() -> None:
    listed = {(row[0].strip("`"), row[1].strip("`")) for row in page_rows("values")}
    words = {"": "empty", ANY_VALUE: "any"}
    assert listed == {
        (setting.name, words.get(value, value))
        for name in FORMAT_NAMES
        for option in get_format(name).options
        for setting in option.settings
        for value in setting.values
    }
