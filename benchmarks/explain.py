"""How long `cdcwire explain` takes to its first line, and its memory against the size of a message.

Run as ``python -m benchmarks.explain [--quick] [--json FILE]``. The command runs as a process. The
memory is the peak of the process (RSS) above that of a message of one short row. Messages of many
rows repeat some rows; messages of one row have a long text.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.document import Result, arguments, finish
from cdcwire.core.context import Context
from cdcwire.core.message import KafkaMessage, Message, StoredFile
from cdcwire.core.options import OptionValue
from cdcwire.model.events import Image, RowChange
from cdcwire.model.text import table_to_json
from cdcwire.registry import get_format
from cdcwire_generators.positions import position_at
from cdcwire_generators.workloads import workload, workload_tables

WORKLOAD = "orders-10"
MIB = 1 << 20
LARGE_MIB = 2  # larger messages take minutes; 9 MB of Open Protocol have too many JSON values
MAX_MEMORY = 10.0  # times the size of the message
ROWS = 256  # different ones; a message repeats them
LONG_COLUMN = "note"
POSITION = position_at(1, 1, ("commit_ts", "sequence_id", "lsn", "commit_ms"))


@dataclass(frozen=True)
class Kind:
    """A kind of messages: of many rows, or of one with a long text."""

    format: str
    options: dict[str, OptionValue]
    has_rows: bool = True

    @property
    def name(self) -> str:
        many = {"storage": "files", "json": "body", "protobuf": "protobuf", "batch": "batch"}
        words = [many[value] for value in self.options.values() if value in many]
        return "-".join([self.format, *words])


_LARGE: dict[str, OptionValue] = {"max-batch-size": 1 << 30, "max-message-bytes": 1 << 30}
_BODY: dict[str, OptionValue] = {"max-batch-size": 1 << 30}
_FILE: dict[str, OptionValue] = {"file-size": 1 << 30}
KINDS = (
    Kind("craft", _LARGE),
    Kind("craft-proposal", _LARGE),
    Kind("open-protocol", _LARGE),
    Kind("csv", _FILE),
    Kind("canal-json", {"transport": "storage", **_FILE}),
    Kind("datahub-tuple", {"encoding": "batch", **_BODY}),
    Kind("datahub-tuple", {"encoding": "protobuf", **_BODY}),
    Kind("datahub-tuple", {"encoding": "json", **_BODY}),
    Kind("datahub-blob", {"encoding": "record"}, False),
    Kind("canal-json", {"max-message-bytes": 1 << 30}, False),
    Kind("avro", {"max-message-bytes": 1 << 30}, False),
    Kind("cdl-json", {}, False),
    Kind("debezium-json", {}, False),
    Kind("maxwell-json", {}, False),
)


@dataclass(frozen=True)
class Run:
    """One run of the command: seconds to the first line and to the end, and its peak memory."""

    first: float
    whole: float
    peak: int


def main(argv: Sequence[str] | None = None) -> int:
    given = arguments("Measure cdcwire explain.", argv)
    size = (1 if given.quick else LARGE_MIB) * MIB
    results: list[Result] = []
    for kind in KINDS:
        with tempfile.TemporaryDirectory() as folder:
            small, _ = explained(kind, Path(folder), 1, 0)
            rows = size // row_size(kind) if kind.has_rows else 1
            large, size_now = explained(kind, Path(folder), rows, 0 if kind.has_rows else size)
        memory = (large.peak - small.peak) / size_now
        workload_name = f"{kind.name}, {size_now / MIB:.1f} MiB in one message"
        details = {
            "seconds to the first line": round(large.first, 2),
            "seconds": round(large.whole, 2),
            "seconds to the first line of one row": round(small.first, 2),
            "peak MiB": round(large.peak / MIB, 1),
        }
        print(workload_name, round(memory, 2), details, file=sys.stderr, flush=True)
        results += [
            Result(
                f"memory/{kind.name}",
                "explain, memory against the size of the message",
                round(memory, 2),
                "x",
                MAX_MEMORY,
                is_least=False,
                workload=workload_name,
                details=details,
            ),
            Result(
                f"first/{kind.name}",
                "explain, time to the first line against all of it",
                round(large.first / large.whole, 3),
                "x",
                is_least=False,
                workload=workload_name,
                details=details,
            ),
        ]
    return finish("explain", results, given)


def row_size(kind: Kind) -> int:
    """Return the bytes that a row adds to a message."""
    return len(encoded(kind, ROWS, 0)[1].value or b"") // ROWS


def encoded(kind: Kind, rows: int, text_size: int) -> tuple[list[Message], Message]:
    """Return the messages of some rows, and the message that has the rows."""
    if kind.format == "craft-proposal":
        rows = min(rows, 0xFFFF)  # the number of rows has two bytes
    made = workload(WORKLOAD, min(rows, ROWS), 1, inserts_only=True)
    rows_made = [event for event in made if isinstance(event, RowChange)]
    different = [with_long_text(replace(row, position=POSITION), text_size) for row in rows_made]
    events = different * (rows // len(different))
    context = Context(kind.options, workload_tables(WORKLOAD))
    messages = list(get_format(kind.format).from_events(events, context=context))
    # Index and schema files of a prefix, and Avro schemas, are smaller.
    queued = [each for each in messages if isinstance(each, KafkaMessage)]
    return messages, max(queued or messages, key=lambda each: len(each.value or b""))


def explained(kind: Kind, folder: Path, rows: int, text_size: int) -> tuple[Run, int]:
    """Explain one message of some rows. Returns: the run, and the size of the message."""
    messages, message = encoded(kind, rows, text_size)
    stored = isinstance(message, StoredFile)
    value = folder / (message.path if isinstance(message, StoredFile) else "message.bin")
    value.parent.mkdir(parents=True, exist_ok=True)
    value.write_bytes(message.value or b"")
    words = ["explain", kind.format, str(value)]
    words += ["--prefix", str(folder)] if stored else []
    if isinstance(message, KafkaMessage) and message.key is not None:
        key = folder / "key.bin"
        key.write_bytes(message.key)
        words += ["--key", str(key)]
    for each in messages:
        if isinstance(each, StoredFile) and each.path.endswith(".avsc"):
            (folder / Path(each.path).name).write_bytes(each.value)
            words += ["--schema", str(folder)] if "--schema" not in words else []
    for name, option in kind.options.items():
        words += ["--option", f"{name}={option}"]
    if get_format(kind.format).needs_tables or kind.format == "csv":
        definitions = folder / "tables.json"
        table = table_to_json(workload_tables(WORKLOAD)[0])
        definitions.write_text(json.dumps(table), "utf-8")
        words += ["--tables", str(definitions)]
    return measured(words, folder / "peak"), value.stat().st_size


def with_long_text(event: RowChange, size: int) -> RowChange:
    """Return the event with a text of a size, if it is not 0."""
    image = event.after
    if not size or image is None:
        return event
    text = "long text " * (size // 10)
    values = zip(image.columns, image.values, strict=True)
    changed = (text if column.name == LONG_COLUMN else value for column, value in values)
    return replace(event, after=Image(image.columns, tuple(changed)))


# The peak of the memory map itself: that of the usage includes the process that started it.
_COMMAND = """
import sys
from cdcwire_conformance.cli import main
code = main(sys.argv[2:])
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
open(sys.argv[1], "w").write(peak.split()[1])
sys.exit(code)
"""


def measured(words: Sequence[str], peak: Path) -> Run:
    """Run the command. ``peak``: the file that gets its peak memory, in KiB."""
    began = time.monotonic()
    command = [sys.executable, "-c", _COMMAND, str(peak), *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        first = time.monotonic() - began
        while process.stdout.read(MIB):
            pass
    if process.returncode:
        raise RuntimeError(f"explain ended with {process.returncode}")
    return Run(first, time.monotonic() - began, int(peak.read_text("utf-8")) << 10)


if __name__ == "__main__":
    sys.exit(main())
