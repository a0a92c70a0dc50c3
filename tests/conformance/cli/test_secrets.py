"""Credentials appear in nothing that verbs print or write, with tracebacks and with all logs."""

from __future__ import annotations

import json
import logging
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from time import process_time

import pytest

from cdcwire.console.visible import without_secrets
from cdcwire_conformance.cli import main, verb_modules

USER, PASSWORD = "alice-user", "p4ss-w0rd"
SINK = f"kafka://{USER}:{PASSWORD}@broker:9092/t?protocol=craft&sasl-password={PASSWORD}"
S3 = f"s3://bucket/prefix?access-key={USER}&secret-access-key={PASSWORD}"
REGISTRY = f"http://{USER}:{PASSWORD}@registry.invalid:8081"
FEEDS = ("craft:file:feed", "craft:file:feed")
JDBC = "jdbc:mariadb://db:3306"
CONNECTOR = {
    "connector.class": "io.debezium.connector.mysql.MySqlConnector",
    "database.user": USER,
    "database.password": PASSWORD,
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    "value.converter.basic.auth.user.info": f"{USER}:{PASSWORD}",
    "schema.history.internal.consumer.sasl.jaas.config": f'x required password="{PASSWORD}";',
    "unknown.secret": PASSWORD,
}
CHANGEFEED = f"""
[sink]
protocol = "craft"
password = "{PASSWORD}"
[sink.kafka-config]
sasl-password = "{PASSWORD}"
sasl-oauth-client-secret = "{PASSWORD}"
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with configurations and a feed; tracebacks and all logs are asked for."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CDCWIRE_TRACEBACK", "1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", USER)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", PASSWORD)
    Path("connector.json").write_text(json.dumps(CONNECTOR))
    Path("changefeed.toml").write_text(CHANGEFEED)
    main(["generate", "craft", "--rows", "3", "--to", "feed"])
    return tmp_path


COMMANDS = [
    ["decode", "auto", "feed", "--sink-uri", SINK],
    ["decode", "auto", "none", "--sink-uri", SINK],
    ["decode", "auto", "feed", "--sink-uri", SINK.replace("craft", "none")],
    ["decode", "auto", "feed", "--sink-uri", S3 + "&protocol=csv"],
    ["decode", "auto", "feed", "--connector", "connector.json"],
    ["decode", "auto", "feed", "--changefeed", "changefeed.toml"],
    ["generate", "auto", "--rows", "2", "--to", "new", "--sink-uri", SINK],
    ["generate", "auto", "--rows", "2", "--to", "new-2", "--connector", "connector.json"],
    ["decode", "csv", S3],
    ["decode", "csv", f"s3://{USER}:{PASSWORD}@bucket/prefix"],
    ["decode", "csv", f"none://{USER}:{PASSWORD}@bucket/prefix"],
    ["decode", "craft", f"kafka://{USER}:{PASSWORD}@broker/t"],
    ["tables", f"csv:{S3}"],
    ["tables", f"csv:s3a://{USER}:{PASSWORD}@bucket/x"],
    ["storage", "check", "csv", S3],
    ["storage", "check", "auto", S3, "--sink-uri", S3],
    ["identify", S3],
    ["identify", SINK],
    ["identify", f"s3://{USER}:{PASSWORD}@bucket/prefix"],
    ["size", S3],
    ["compare", f"craft:{SINK}", f"craft:{SINK}"],
    ["compare", f"csv:s3a://{USER}:{PASSWORD}@bucket/x", "csv:file:feed"],
    ["compare", "auto:file:feed", "auto:file:feed", "--left-sink-uri", SINK],
    ["compare", "craft:file:feed", f"{JDBC}/shop?table=orders&user={USER}&password={PASSWORD}"],
    ["compare", "craft:file:feed", f"{JDBC}/shop?table=orders&pwd={PASSWORD}"],
    ["compare", "craft:file:feed", JDBC.replace("//", f"//{USER}:{PASSWORD}@") + "/shop?table=t"],
    ["compare", "craft:file:feed", f"jdbc:oracle:thin:{USER}/{PASSWORD}@db:1521/shop?table=t"],
    ["compare", "craft:file:feed", f"jdbc:mariadb:{USER}/{PASSWORD}@db?table=t"],
    ["compare", "craft:file:feed", f"parquet:s3a://{USER}:{PASSWORD}@bucket/x"],
    ["compare", "craft:file:feed", f"parquet:s3a://{USER}:{PASSWORD}/@bucket/x"],
    ["compare", "craft:file:feed", f"iceberg:hdfs:/{USER}:{PASSWORD}@host/x"],
    ["compare", *FEEDS, "--differences", f"s3a://{USER}:{PASSWORD}@bucket/x"],
    ["compare", *FEEDS, "--json", f"s3://{USER}:{PASSWORD}@bucket/x"],
    ["compare", *FEEDS, "--html", f"s3://{USER}:{PASSWORD}@bucket/x"],
    ["compare", *FEEDS, "--junit", f"s3://{USER}:{PASSWORD}@bucket/x"],
    ["compare", *FEEDS, "--save-case", f"s3://{USER}:{PASSWORD}@bucket/x"],
    ["compare", *FEEDS, "--mask-key", f"s3://{USER}:{PASSWORD}@bucket/x"],
    ["compare", "auto:file:feed", "auto:file:feed", "--right-connector", "connector.json"],
    ["compare", "avro:file:feed", "avro:file:feed", "--left-schema", REGISTRY.replace("http", "x")],
    ["size", "--feed", f"csv:s3://{USER}:{PASSWORD}@bucket/x"],
    ["generate", "csv", "--rows", "2", "--to", f"s3://{USER}:{PASSWORD}@bucket/x"],
    ["identify", "feed", "--connector", "connector.json"],
    ["storage", "check", "auto", "feed", "--connector", "connector.json"],
    ["encode", "auto", "feed", "--connector", "connector.json"],
    ["corpus", "copy", f"s3://{USER}:{PASSWORD}@bucket/golden", "--root", "none"],
    ["verify", "craft", "--json", f"s3://{USER}:{PASSWORD}@bucket/report.json"],
    ["decode", "avro", "feed", "--schema", REGISTRY, "--max-answer-bytes", f"password={PASSWORD}"],
    ["decode", "avro", "feed", "--schema", f"{REGISTRY}/?x=1"],
    ["decode", "avro", "feed", "--schema", REGISTRY, "--ca-file", "none.pem"],
    ["decode", "avro", "feed", "--schema", REGISTRY.replace("http", "ftp")],
    ["decode", "craft", "feed", "--option", f"sasl-password={PASSWORD}"],
    ["decode", "craft", "feed", "--blobs", f"s3://{USER}:{PASSWORD}@bucket/blobs"],
    ["corpus", "list", "--root", f"s3://{USER}:{PASSWORD}@bucket/golden"],
    ["verify", "craft", "--root", f"s3://{USER}:{PASSWORD}@bucket/golden"],
    ["verify", "craft", "--", f"none?password={PASSWORD}", f"--token={PASSWORD}"],
    ["identify", f'kafka://u:"S3CR A{PASSWORD}@h:1/t'],
    ["identify", f"kafka://u:1 2{PASSWORD}@h:1/t"],
    ["decode", "csv", f"s3://AKIA:'x {PASSWORD}@bucket/x"],
    ["decode", "csv", f"s3://AKIA:x/ {PASSWORD}@bucket/x"],
    ["compare", FEEDS[0], f'craft:kafka://h:1/t?sasl.jaas.config=x password="a {PASSWORD}";'],
    ["compare", f"csv:https://h/x?sig={PASSWORD}", FEEDS[0]],
    ["unknown", f"--token={PASSWORD}"],
    ["decode", "craft", f"--token={PASSWORD}", "feed"],
]


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # py4j leaves a socket to the collector
@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words)[:50])
def test_nothing_printed_or_written_has_a_secret(
    words: list[str],
    folder: Path,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    before = set(folder.rglob("*"))
    with caplog.at_level(logging.DEBUG):
        main(words)
    shown = capfd.readouterr()
    output = shown.out + shown.err + caplog.text
    assert PASSWORD not in output
    written = [file for file in set(folder.rglob("*")) - before if file.is_file()]
    assert not any(PASSWORD.encode() in file.read_bytes() for file in written)


# Each verb with arguments that are right without the option that is tried.
PLAIN = {
    "verify": ["verify", "craft", "--case", "craft/tables/table-cut", "--jobs", "1"],
    "decode": ["decode", "craft", "feed"],
    "encode": ["encode", "craft", "feed/messages.jsonl"],
    "explain": ["explain", "craft", "feed/messages.jsonl"],
    "identify": ["identify", "feed"],
    "generate": ["generate", "craft", "--rows", "2"],
    "size": ["size", "--workload", "tiny", "--rows", "2", "--jobs", "1"],
    "compare": ["compare", *FEEDS, "--engine", "embedded"],
    "tables": ["tables", "craft:file:feed"],
    "storage": ["storage", "check", "csv", "feed"],
    "corpus": ["corpus", "list"],
    "witness": ["witness", "craft"],
    "report": ["report"],
}
PLACES = {"URI", "URL", "FILE", "DIR", "PLACE", "SOURCE", "TARGET"}


def options_of_places() -> Iterator[tuple[str, str]]:
    """Yield each verb with each of its options that names a file, a directory or an address."""
    modules = {module.NAME: module for module in verb_modules()}
    for verb, words in PLAIN.items():
        parser = ArgumentParser()
        modules[verb].add_arguments(parser)
        for word in words[1:2]:
            for action in parser._actions:
                if isinstance(action.choices, dict) and word in action.choices:
                    parser = action.choices[word]
        for action in parser._actions:
            if action.option_strings and PLACES & {str(action.metavar)}:
                yield verb, action.option_strings[-1]


@pytest.mark.parametrize("secret", ["user", "parameter"])
@pytest.mark.parametrize(("verb", "option"), list(options_of_places()))
def test_no_option_of_a_place_shows_a_secret(
    verb: str, option: str, secret: str, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    user = f"{USER}:{PASSWORD}@" if secret == "user" else ""
    parameter = "" if secret == "user" else f"?secret-access-key={PASSWORD}"
    main([*PLAIN[verb], option, f"s3://{user}bucket/x{parameter}"])
    shown = capfd.readouterr()
    assert PASSWORD not in shown.out + shown.err


def test_options_of_places_are_found() -> None:
    found = set(options_of_places())
    assert {("verify", "--json"), ("compare", "--left-schema"), ("storage", "--blobs")} <= found
    assert len(found) > 80


def test_command_of_a_testee_is_shown_without_secrets(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import sys

    command = [sys.executable, "-c", "pass", f"--api-token={PASSWORD}", SINK]
    words = ["verify", "craft", "--one-shot", "--case", "craft/values/year-2024", "--jobs", "1"]
    reports = [f"--{name}={tmp_path / name}" for name in ("json", "junit", "markdown")]
    assert main([*words, *reports, "--", *command]) == 1
    for name in ("json", "junit", "markdown"):
        assert PASSWORD not in (tmp_path / name).read_text("utf-8")
    assert PASSWORD not in capsys.readouterr().out


@pytest.mark.parametrize(
    "text",
    [
        *("a@b", "3 secret rows", "token: x", "http://host/path", "--option a=b"),
        *("design=x assigned=y sigma=3 basic=4", "'x?password=' is missing"),
        *("s3://bucket/x: ask a@b", "http://h:80/x a@b", "csv:/feed: a@b", "h:/x a@b"),
    ],
)
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert without_secrets(text) == text


@pytest.mark.parametrize("text", ["a" * 20_000, "a:/" * 20_000, "secret" * 600], ids=len)
def test_time_to_hide_secrets_is_in_proportion_to_the_text(text: str) -> None:
    begin = process_time()
    without_secrets(text)
    assert process_time() - begin < 1  # about 1 ms; seconds if each place reads the rest again


@pytest.mark.parametrize(
    ("part", "shown"),
    [
        ("a://x:y ", "a://x:y "),
        ("a:/b:", "a:/b:"),
        ("sig-", "sig-"),
        ("a:/x:y 'z@ ", "a:/***@ "),
        ("a://x:y z@h/ ", "a://***@h/ "),
        ("password='a b' ", "password=*** "),
        ('token=\\\\"a \\b\\\\" ', "token=*** "),
    ],
)
def test_secrets_of_a_long_text_are_hidden(part: str, shown: str) -> None:
    """Each search ends near its beginning. It would take hours if each read the rest."""
    times = 3_000_000 // len(part)
    assert without_secrets(part * times) == shown * times


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a:/b s3://u:p@h", "a:/b s3://***@h"),
        ("s3://u:p@x://v@h/p@q", "s3://***@q"),
        ("x=my.password=p&a", "x=my.password=***&a"),
        ("--SASL-Password=p 'token=q'", "--SASL-Password=*** 'token=***'"),
        (
            'x?a.jaas.config=b user="u" password="p q"; c',
            'x?a.jaas.config=*** user="u" password=***; c',
        ),
        ("password='p x token='q r", "password=*** r"),
        ('password="p\\"q r" s', "password=*** s"),
        ('{"a": "password=\\"p q\\";", "b": 1}', '{"a": "password=***;", "b": 1}'),
        ("token=p'q 'x'", "token=*** 'x'"),
        ("sig=a&X-Amz-Signature=b&x.sas=c", "sig=***&X-Amz-Signature=***&x.sas=***"),
        (
            "apikey=a&api_key=b&access_key=c&AccountKey=d&pwd=e",
            "apikey=***&api_key=***&access_key=***&AccountKey=***&pwd=***",
        ),
        ("k://u:p'q r@h:1/t", "k://***@h:1/t"),
        ("k://u:p/q r@s t@h:1/t x@y", "k://***@h:1/t x@y"),
        ("'/k:/u:p q@h/t'", "'/k:/***@h/t'"),
    ],
)
def test_secrets_are_hidden_where_they_are(text: str, shown: str) -> None:
    assert without_secrets(text) == shown
