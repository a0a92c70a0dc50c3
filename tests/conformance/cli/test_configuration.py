"""``--sink-uri``, ``--changefeed`` and ``--connector`` of the verbs."""

from __future__ import annotations

import json
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from cdcwire_conformance.cli import main

CANAL_URI = (
    "kafka://alice:alice-secret@broker:9092/topic?protocol=canal-json&enable-tidb-extension=true"
    "&sasl-user=alice&sasl-password=alice-secret&sasl-mechanism=plain"
)
CONNECTOR = {
    "name": "orders",
    "config": {
        "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
        "database.password": "alice-secret",
        "topic.prefix": "shop",
        "decimal.handling.mode": "string",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": "false",
    },
}
CSV_FILE = """
[sink]
protocol = "csv"
terminator = "\\n"
[sink.csv]
delimiter = '|'
include-commit-ts = true
output-old-value = true
[sink.kafka-config]
sasl-password = "alice-secret"
"""
needs_toml = pytest.mark.skipif(
    find_spec("tomllib") is None and find_spec("tomli") is None,
    reason="Python 3.10 reads TOML with the extra toml",
)


def call(*words: str) -> int:
    return main(list(words))


def stdout_of(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[str, str]:
    """Return what a command prints on both streams, which show no secret."""
    capsys.readouterr()
    assert call(*words) == 0
    out, err = capsys.readouterr()
    assert "alice" not in out + err
    return out, err


def error_of(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    capsys.readouterr()
    assert call(*words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "alice" not in err
    assert "Traceback" not in err
    return err


@pytest.fixture
def connector(tmp_path: Path) -> str:
    file = tmp_path / "connector.json"
    file.write_text(json.dumps(CONNECTOR))
    return str(file)


@pytest.fixture
def changefeed(tmp_path: Path) -> str:
    file = tmp_path / "changefeed.toml"
    file.write_text(CSV_FILE)
    return str(file)


def test_a_feed_is_made_and_read_by_its_sink_uri_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    feed = str(tmp_path / "feed")
    _, err = stdout_of(
        capsys, "generate", "auto", "--rows", "5", "--to", feed, "--sink-uri", CANAL_URI
    )
    assert err == (
        "cdcwire generate: sink URI: canal-json --option enable-tidb-extension=true\n"
        f"cdcwire generate: wrote 5 row changes as canal-json to {feed}\n"
    )
    by_uri, _ = stdout_of(capsys, "decode", "auto", feed, "--sink-uri", CANAL_URI)
    by_name, _ = stdout_of(
        capsys, "decode", "canal-json", feed, "--option", "enable-tidb-extension=true"
    )
    assert by_uri == by_name
    assert '"commit_ts"' in by_uri  # only the extension has it


@needs_toml
def test_a_prefix_is_made_checked_and_read_by_its_changefeed(
    tmp_path: Path, changefeed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    prefix = str(tmp_path / "prefix")
    made = ("--rows", "50", "--workload", "storage", "--to", prefix)
    stdout_of(capsys, "generate", "auto", *made, "--changefeed", changefeed)
    data = next(file for file in Path(prefix).rglob("CDC*.csv"))
    assert data.read_bytes().count(b"|") > 3
    checked, _ = stdout_of(capsys, "storage", "check", "auto", prefix, "--changefeed", changefeed)
    assert checked.endswith("no faults\n")
    events, _ = stdout_of(capsys, "decode", "csv", prefix, "--changefeed", changefeed)
    assert events.count("\n") >= 50


def test_a_feed_is_made_and_read_by_its_connector_alone(
    tmp_path: Path, connector: str, capsys: pytest.CaptureFixture[str]
) -> None:
    feed = str(tmp_path / "feed")
    stdout_of(capsys, "generate", "auto", "--rows", "5", "--to", feed, "--connector", connector)
    events, err = stdout_of(capsys, "decode", "auto", feed, "--connector", connector)
    assert err.startswith(f"cdcwire decode: {connector}: debezium-json --option ")
    again = tmp_path / "events.jsonl"
    again.write_text(events)
    messages, _ = stdout_of(capsys, "encode", "auto", str(again), "--connector", connector)
    first = Path(feed, "messages.jsonl").read_text().splitlines()[0]
    assert json.loads(messages.splitlines()[0]) == json.loads(first)


def test_an_option_of_the_user_overrides_the_configuration(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    feed = str(tmp_path / "feed")
    made = ("--rows", "5", "--to", feed, "--sink-uri", CANAL_URI)
    stdout_of(capsys, "generate", "auto", *made, "--option", "enable-tidb-extension=false")
    events, _ = stdout_of(capsys, "decode", "canal-json", feed)
    assert '"commit_ts"' not in events


def test_the_named_format_has_to_agree(capsys: pytest.CaptureFixture[str]) -> None:
    assert error_of(capsys, "decode", "craft", "feed", "--sink-uri", CANAL_URI) == (
        "cdcwire decode: sink URI: protocol=canal-json: the format is canal-json, not craft\n"
    )


@pytest.mark.parametrize(
    "words",
    [
        ("encode", "auto", "-"),
        ("generate", "auto", "--rows", "1", "--to", "feed"),
        ("storage", "check", "auto", "prefix"),
    ],
)
def test_auto_needs_a_configuration_where_nothing_can_be_identified(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert error_of(capsys, *words).endswith(
        "the format auto needs --sink-uri, --changefeed or --connector\n"
    )


def test_a_format_without_files_has_no_storage_check(capsys: pytest.CaptureFixture[str]) -> None:
    found = error_of(capsys, "storage", "check", "craft", "prefix")
    assert "canal-json and csv only, not craft" in found


def test_a_connector_excludes_a_changefeed(
    connector: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--connector", connector, "--sink-uri", CANAL_URI)
    assert "not given together" in error_of(capsys, "decode", "auto", "feed", *words)


@pytest.mark.parametrize(
    "uri",
    [
        "mysql://alice:alice-secret@db/",
        "alice-secret",
        "kafka://alice:alice-secret@[x/t?protocol=craft",
        "kafka://b/t?sasl-password=alice-secret&protocol=unknown",
        "kafka://b/t?protocol=craft&sasl-password=alice-secret&max-batch-size=many",
    ],
)
def test_an_error_about_a_sink_uri_shows_no_secret(
    uri: str, capsys: pytest.CaptureFixture[str]
) -> None:
    err = error_of(capsys, "decode", "auto", "feed", "--sink-uri", uri)
    assert err.startswith("cdcwire decode: sink URI: ")
    assert err.count("\n") == 1


def test_an_error_shows_no_control_sign_of_a_file(
    connector: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(connector).write_text(json.dumps({"connector.class": "\x1b[2Jnone"}))
    err = error_of(capsys, "decode", "auto", "feed", "--connector", connector)
    assert "connector.class=\\u001b[2Jnone: no format" in err


@needs_toml
@pytest.mark.parametrize("text", ['[sink\npassword = "alice"', 'password = "alice\n', "= alice"])
def test_a_broken_changefeed_is_one_line_without_its_text(
    text: str, changefeed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(changefeed).write_text(text)
    err = error_of(capsys, "decode", "auto", "feed", "--changefeed", changefeed)
    assert err.startswith(f"cdcwire decode: {changefeed}: not TOML at ")
    assert err.count("\n") == 1


@pytest.mark.skipif(sys.version_info >= (3, 11), reason="it is of Python 3.10 only")
def test_without_a_reader_of_toml_the_extra_is_named(
    changefeed: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tomli", None)
    err = error_of(capsys, "decode", "auto", "feed", "--changefeed", changefeed)
    assert "--changefeed on Python 3.10 needs the package tomli (extra toml): pip install" in err


def test_a_registry_is_named_without_its_password(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    feed = str(tmp_path / "feed")
    stdout_of(capsys, "generate", "avro", "--rows", "2", "--to", feed)
    uri = "kafka://b/t?protocol=avro&schema-registry=http%3A%2F%2Falice%3Aalice-secret%40registry"
    _, err = stdout_of(capsys, "decode", "auto", feed, "--sink-uri", uri)
    assert err.splitlines()[0] == (
        "cdcwire decode: warning: the registry http://registry is not asked for schemas without "
        "--schema"
    )


def test_both_sides_of_a_comparison_have_their_configuration(
    connector: str, capsys: pytest.CaptureFixture[str]
) -> None:
    sides = ("--left-sink-uri", CANAL_URI, "--right-connector", connector)
    err = error_of(capsys, "compare", "auto:file:a", "craft:file:b", *sides)
    first, second = err.splitlines()
    assert first == "cdcwire compare: sink URI: canal-json --option enable-tidb-extension=true"
    assert second.endswith("the format is debezium-json, not craft")
