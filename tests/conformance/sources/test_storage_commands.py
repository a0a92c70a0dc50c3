"""``decode``, ``generate`` and ``storage check`` with prefixes, as their users call them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cdcwire_conformance.cli import main

CSV = ["--option", "include-commit-ts=true", "--option", "output-old-value=true"]
CANAL = ["--option", "enable-tidb-extension=true", "--option", "content-compatible=true"]
OPTIONS = {"csv": CSV, "canal-json": CANAL}


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    capsys.readouterr()
    code = main(list(words))
    found = capsys.readouterr()
    return code, found.out, found.err


def test_decode_prints_the_events_of_a_prefix(
    good: dict[str, Path], format_name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["decode", format_name, str(good[format_name]), *OPTIONS[format_name]]
    code, out, err = run(capsys, *words)
    events = [json.loads(line) for line in out.splitlines()]
    assert (code, err) == (0, "")
    assert [event["kind"] for event in events].count("ddl") == 6
    assert events[-1]["what"] == "checkpoint"


def test_decode_of_a_prefix_with_a_fault_says_it_and_ends_with_1(
    prefix: Path, format_name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = sorted(prefix.glob("shop/orders/[0-9]*/*/CDC*"))[0]
    file.unlink()
    code, out, err = run(capsys, "decode", format_name, str(prefix), *OPTIONS[format_name])
    assert code == 1
    assert err.count("\n") == 1
    assert file.relative_to(prefix).as_posix() in err
    assert "(storage: replay order)" in err
    assert '"users"' in out


def test_decode_of_a_prefix_with_hex_is_one_clear_line(
    good: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = run(capsys, "decode", "csv", str(good["csv"]), "--hex")
    assert code == 2
    assert err.count("\n") == 1
    assert "--hex" in err


def test_decode_of_a_url_reads_the_store(
    memory_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--workload", "storage", "--rows", "40", "--to", memory_url]
    assert main(["generate", "csv", *words, *CSV]) == 0
    code, out, _ = run(capsys, "decode", "csv", memory_url, *CSV, "--include", "shop.users")
    assert code == 0
    assert '"users"' in out
    assert '"orders"' not in out


def test_decode_canal_json_messages_of_a_directory_stays_as_it_was(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    feed = tmp_path / "feed"
    assert main(["generate", "canal-json", "--rows", "20", "--to", str(feed)]) == 0
    assert (feed / "messages.jsonl").is_file()
    (feed / "tables.json").unlink()
    code, out, _ = run(capsys, "decode", "canal-json", str(feed))
    assert (code, out.count("\n")) == (0, 20)


def test_decode_csv_messages_learn_their_tables_from_schema_files_among_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    events, messages = tmp_path / "events", tmp_path / "messages.jsonl"
    column = {"name": "id", "type": "int64", "source": "bigint", "nullable": False}
    column_roles = dict(column, roles=["primary", "handle"])
    ddl = {
        "kind": "ddl",
        "what": "create",
        "code": "3",
        "query": "CREATE TABLE t (id bigint primary key)",
        "schema": "s",
        "table": "t",
        "columns": [column_roles],
        "position": {"commit_ts": "5"},
    }
    row = {
        "kind": "row",
        "op": "insert",
        "schema": "s",
        "table": "t",
        "position": {"commit_ts": "6"},
        "before": None,
        "after": {"id": {"type": "int64", "value": "7"}},
    }
    events.write_text("\n".join(map(json.dumps, (ddl, row))))
    code, out, _ = run(capsys, "encode", "csv", str(events))
    assert code == 0
    messages.write_text(out)
    code, out, _ = run(capsys, "decode", "csv", str(messages))
    assert code == 0
    assert [json.loads(line)["kind"] for line in out.splitlines()] == ["ddl", "row"]


def test_generate_writes_a_prefix_that_check_finds_good(
    tmp_path: Path, format_name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(tmp_path / "prefix")
    words = ["--workload", "storage", "--rows", "200", "--seed", "3", "--restarts", "2"]
    transport = ["--option", "transport=storage"] if format_name == "canal-json" else []
    options = OPTIONS[format_name]
    assert main(["generate", format_name, *words, "--to", folder, *options, *transport]) == 0
    code, out, err = run(capsys, "storage", "check", format_name, folder, *options)
    taken = f"cdcwire storage: {folder}/.feed.json gives --option transport=storage\n"
    assert (code, err) == (0, taken if transport else "")
    assert out.endswith(": no faults\n")


def test_generate_one_seed_gives_the_same_prefix(tmp_path: Path, format_name: str) -> None:
    found = []
    transport = ["--option", "transport=storage"] if format_name == "canal-json" else []
    for name in ("a", "b"):
        folder = tmp_path / name
        words = ["--rows", "50", "--seed", "3", "--to", str(folder), *transport]
        assert main(["generate", format_name, *words]) == 0
        files = (file for file in folder.rglob("*") if file.is_file())
        found.append({file.relative_to(folder): file.read_bytes() for file in files})
    assert found[0] == found[1]
    assert Path("metadata") in found[0]


def test_generate_into_a_prefix_that_is_not_empty_is_refused(
    good: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = run(capsys, "generate", "csv", "--rows", "1", "--to", str(good["csv"]))
    assert code == 2
    assert "is not empty" in err


def test_generate_messages_to_a_url_are_refused_without_its_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, err = run(capsys, "generate", "craft", "--rows", "1", "--to", "s3://u:hidden@b/x")
    assert (code, list(tmp_path.iterdir())) == (2, [])
    assert err.startswith("cdcwire generate: --to s3://***@b/x: ")


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_generate_rows_that_a_format_does_not_carry_name_the_workload(
    jobs: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--workload", "mostly-null", "--rows", "60", "--to", str(tmp_path / "x")]
    code, _, err = run(capsys, "generate", "cdl-json", *words, "--jobs", jobs)
    assert code == 2
    assert "--workload mostly-null has rows that cdl-json does not carry: '" in err
    assert err.count("\n") == 1


def test_generate_restarts_of_a_queue_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--rows", "1", "--to", str(tmp_path / "x"), "--restarts", "1"]
    code, _, err = run(capsys, "generate", "craft", *words)
    assert code == 2
    assert "--restarts" in err


@pytest.mark.parametrize("format_name", ["craft", "open-protocol", "canal-json"])
def test_generate_storage_workload_in_every_format_has_the_same_rows(
    tmp_path: Path, format_name: str
) -> None:
    folder = tmp_path / format_name
    words = ["--workload", "storage", "--rows", "60", "--to", str(folder)]
    assert main(["generate", format_name, *words]) == 0
    assert (folder / "messages.jsonl").stat().st_size > 0


def test_check_faults_are_lines_and_the_exit_code_1(
    prefix: Path, format_name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (prefix / "notes.txt").write_text("x")
    code, out, err = run(
        capsys, "storage", "check", format_name, str(prefix), *OPTIONS[format_name]
    )
    assert (code, err) == (1, "")
    assert out.splitlines()[0].startswith("notes.txt: ")
    assert out.splitlines()[-1].endswith(": 1 fault")


def test_check_json_has_file_byte_path_and_clause(
    prefix: Path, format_name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = sorted(prefix.glob("shop/users/[0-9]*/*/CDC*"))[0]
    file.write_bytes(b"x\r\n")
    words = ["storage", "check", format_name, str(prefix), "--json", *OPTIONS[format_name]]
    code, out, _ = run(capsys, *words)
    (fault,) = json.loads(out)["faults"]
    assert code == 1
    assert fault["kind"] == "data-unreadable"
    assert fault["file"] == file.relative_to(prefix).as_posix()
    assert fault["byte"] == 0
    assert fault["path"]
    assert fault["clause"].startswith(format_name)


def test_check_atomic_transactions_are_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(tmp_path / "prefix")
    words = ["--workload", "storage", "--rows", "300", "--to", folder, "--option", "file-size=1"]
    assert main(["generate", "csv", *words, *CSV]) == 0
    check = ["storage", "check", "csv", folder, *CSV]
    assert run(capsys, *check)[0] == 0
    code, out, _ = run(capsys, *check, "--transaction-atomicity", "table")
    assert code == 1
    assert "belongs to a transaction in" in out


@pytest.mark.parametrize("source", ["no-such-folder", "nowhere://x"])
def test_check_that_cannot_run_is_one_line_and_exit_code_2(
    source: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if "://" in source:
        pytest.importorskip("fsspec")
    code, out, err = run(capsys, "storage", "check", "csv", source)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1


def test_check_of_a_table_without_rows_is_no_clean_bill(
    good: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["storage", "check", "csv", str(good["csv"]), *CSV, "--include"]
    code, out, err = run(capsys, *words, "shop.usres")
    assert (code, out) == (2, "")
    problem = f"--include: {good['csv']} has no rows of shop.usres"
    assert err == f"cdcwire storage: {problem}; did you mean 'shop.users'?\n"


def test_check_refuses_an_option_that_is_none(
    good: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = run(capsys, "storage", "check", "csv", str(good["csv"]), "--option", "x=1")
    assert code == 2
    assert err.count("\n") == 1


def test_check_takes_the_options_that_the_prefix_describes(
    format_name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--workload", "storage", "--rows", "60", "--to", str(tmp_path / "prefix")]
    words += ["--option", "transport=storage"] if format_name == "canal-json" else []
    assert run(capsys, "generate", format_name, *words, *OPTIONS[format_name])[0] == 0
    code, out, err = run(capsys, "storage", "check", format_name, str(tmp_path / "prefix"))
    assert code == 0, out
    assert all(option in err for option in OPTIONS[format_name])


def test_check_passes_no_prefix_without_files_or_metadata(
    prefix: Path, format_name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    check = ("storage", "check", format_name)
    code, out, err = run(capsys, *check, str(tmp_path / "empty"), *OPTIONS[format_name])
    assert (code, out) == (2, "")
    assert err.endswith("empty: there is no file in this prefix\n")
    assert run(capsys, *check, str(prefix), *OPTIONS[format_name])[0] == 0
    (prefix / "metadata").unlink()
    code, out, err = run(capsys, *check, str(prefix), *OPTIONS[format_name])
    assert (code, err) == (1, "")
    assert "note: there is no file metadata: " in out
    assert out.endswith(" no faults, but no metadata\n")


@pytest.mark.parametrize(
    ("line", "code", "problem"),
    [
        ('{"payload": "abc"}', 1, "a.jsonl:1: byte 0: unsupported version 123, 1 is known"),
        ('["abc"]', 2, "a.jsonl:1: the line is not a message: a message is an object"),
    ],
)
def test_line_that_is_not_a_message_is_no_null(
    tmp_path: Path, line: str, code: int, problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.jsonl").write_text(f"{line}\n")
    found, out, err = run(capsys, "decode", "craft", str(tmp_path))
    assert (found, out) == (code, "")
    assert problem in err
