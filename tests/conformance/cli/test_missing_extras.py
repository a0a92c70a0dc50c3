"""A verb whose extra is missing ends with one line: what it needs, and the command for it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGES = (
    *("argcomplete", "confluent_kafka", "fsspec", "hypothesis", "jinja2", "numpy", "pandas"),
    *("psycopg", "pyarrow", "pymysql", "pyspark", "requests", "sqlglot", "zstandard"),
)
CODE = f"""
import sys
sys.modules.update(dict.fromkeys({PACKAGES!r}))  # as if none were installed
from cdcwire_conformance.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    "words",
    [
        ["compare", "auto:file:feed", "auto:file:feed"],
        ["compare", "maxwell-json:file:feed", "csv-table:orders.csv"],
        ["compare", "maxwell-json:kafka://127.0.0.1:1/orders", "auto:file:feed"],
        ["compare", "auto:file:feed", "auto:file:feed", "--html", "found.html"],
        ["tables", "maxwell-json:file:feed"],
        ["verify", "craft", "--html", "found.html"],
        ["verify", "craft", "--property", "1"],
        ["decode", "maxwell-json", "feed", "--ddl", "orders.sql"],
        ["generate", "maxwell-json", "--rows", "1", "--to", "new", "--ddl", "orders.sql"],
        ["identify", "s3://bucket/orders"],
        ["completion", "bash"],
    ],
    ids=" ".join,
)
def test_missing_extra_is_one_line(words: list[str], tmp_path: Path) -> None:
    feed = tmp_path / "feed"
    feed.mkdir()
    row = '{"database":"d","table":"t","type":"insert","ts":1,"data":{"id":1}}'
    (feed / "messages.jsonl").write_text(f"{row}\n")
    (tmp_path / "orders.sql").write_text("CREATE TABLE d.t (id INT PRIMARY KEY);")
    (tmp_path / "orders.csv").write_text("id\n1\n")
    ended = subprocess.run(
        [sys.executable, "-c", CODE, *words],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    *_, line = ended.stderr.splitlines()  # after what was identified
    assert ended.returncode == 2
    assert " needs the package " in line
    assert "pip install " in line
