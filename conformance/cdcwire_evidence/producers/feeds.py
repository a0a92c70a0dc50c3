"""Recorded messages as feeds on disk: each engine in three forms, and each Maxwell."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cdcwire.core.message import KafkaMessage
from cdcwire.core.options import OptionValue
from cdcwire_conformance.sources.messages_io import write_messages
from cdcwire_evidence.producers.captures import ENGINES, MAXWELLS
from cdcwire_evidence.producers.recording import Recording

# The forms of an engine's messages: JSON with schemas, JSON without, Avro.
FORMS = ("json", "bare", "avro")
CAPTURES = (*(f"{name} {form}" for name in ENGINES for form in FORMS), *MAXWELLS)


# Columns of bytes, which some engines send as text.
_BINARY = ("c_binary", "c_varbinary", "c_blob", "shop.odd_keys.b")


def write_feeds(recording: Recording, folder: Path) -> dict[str, str]:
    """Write a directory for each of ``CAPTURES``; return each as the command line names a feed."""
    feeds = {}
    for name, found in recording.sent.items():
        messages = {
            "json": [each.message for each in found],
            "bare": [each.bare for each in found],
            "avro": [each.avro for each in found if each.avro is not None],
        }
        for form in FORMS:
            made = _write(folder / f"{name}-{form}", messages[form])
            feeds[f"{name} {form}"] = f"debezium-{'avro' if form == 'avro' else 'json'}:file:{made}"
        texts = folder / f"{name}-avro" / "schemas"
        texts.mkdir()
        for number, text in recording.schemas.items():
            (texts / f"{number}.avsc").write_text(text, encoding="utf-8")
    for name, lines in recording.maxwell.items():
        values = [KafkaMessage(None, line, has_key=False) for line in lines]
        feeds[name] = f"maxwell-json:file:{_write(folder / name, values)}"
    return feeds


def _write(folder: Path, messages: Sequence[KafkaMessage]) -> Path:
    folder.mkdir()
    write_messages(str(folder / "messages.jsonl"), messages)
    return folder


def reading_options(capture: str, side: str) -> dict[str, dict[str, OptionValue]]:
    """Return the options of ``compare`` for settings that a capture's messages do not show.

    Messages without schema show none of them. The others do not show that a text has bytes.
    """
    name, _, form = capture.partition(" ")
    if name not in ENGINES:
        return {}
    modes = ENGINES[name].modes
    if form == "bare":
        given = {name.replace(".", "-"): value for name, value in modes.items()}
        return {f"{side}_option": {**given, "connector": ENGINES[name].connector.name}}
    binary = modes["binary.handling.mode"].removesuffix("-url-safe")
    return {} if binary == "bytes" else {f"{side}_binary": dict.fromkeys(_BINARY, binary)}
