"""Writes failing property cases into a golden folder that ``cdcwire corpus check`` accepts."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from cdcwire.core.message import KafkaMessage
from cdcwire_conformance.corpus.case import Case
from cdcwire_conformance.corpus.json_form import json_text
from cdcwire_conformance.corpus.rebuild import rebuild
from cdcwire_conformance.corpus.store import VERSION_FILE, corpus_version
from cdcwire_conformance.inside import file_inside
from cdcwire_conformance.property.cases import case_document, with_files
from cdcwire_conformance.whole_files import write_whole


def save_cases(cases: Iterable[Case], root: Path) -> list[Path]:
    """Write cases, their bytes, hexdumps and the index. Returns: the files of the new cases.

    A case that the folder has is not written again. Raises: CorpusError, OSError.
    """
    root.mkdir(parents=True, exist_ok=True)
    version = file_inside(root, VERSION_FILE)
    if not version.exists():
        version.write_text(f"{corpus_version()}\n", encoding="ascii")
    written = []
    for case in cases:
        file = file_inside(root, f"{case.id}.json")
        if not file.exists():
            _write(with_files(case), file, root)
            written.append(file)
    rebuild(root)
    return written


def _write(case: Case, file: Path, root: Path) -> None:
    folder = file.parent
    folder.mkdir(parents=True, exist_ok=True)
    for names, message in zip(case.files, case.messages, strict=True):
        key = message.key if isinstance(message, KafkaMessage) else None
        for name, content in ((names.key, key), (names.value, message.value)):
            if name is not None and content is not None:
                write_whole(file_inside(root, str(folder.relative_to(root) / name)), content)
    for location, name in case.blob_files.items():
        blob = file_inside(root, str(folder.relative_to(root) / name))
        write_whole(blob, case.blobs[location])
    write_whole(file, json_text(case_document(case)).encode())
