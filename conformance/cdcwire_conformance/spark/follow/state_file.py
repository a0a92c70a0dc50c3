"""The state file of ``--follow``: how far two topics are compared."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from cdcwire.files.local_files import read_short, whole_file
from cdcwire_conformance.sources.source_urls import SourceError
from cdcwire_conformance.spark.follow.watermarks import (
    Block,
    FollowedPair,
    FollowState,
    Notices,
    PartitionProgress,
    TopicProgress,
    WatermarkRule,
)

STATE_VERSION = 1


def write_state(path: Path, state: FollowState) -> None:
    """Replace the state in a file, also on the disk below it. Raises: OSError."""
    document = {
        "follow": STATE_VERSION,
        "question": asdict(state.pair),
        "reported": state.reported,
        "start": state.start,
        "planned": state.planned,
        "sides": [_topic_document(progress) for progress in state.topics],
    }
    with whole_file(path) as file:
        file.write(f"{json.dumps(document)}\n".encode())
        file.flush()
        os.fsync(file.fileno())
    if os.name == "posix":
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def read_state(path: Path) -> FollowState | None:
    """Return the state of a file; None if there is no such file. Raises: SourceError; OSError."""
    try:
        text = read_short(path).decode("utf-8")
    except FileNotFoundError:
        return None
    try:
        document = json.loads(text)
        if document["follow"] != STATE_VERSION:
            raise ValueError("another version")
        left, right = map(_topic_of, document["sides"])
        return FollowState(
            _pair_of(document["question"]),
            (left, right),
            _number_or_none(document["start"]),
            _number_or_none(document["planned"]),
            int(document["reported"]),
        )
    except (ValueError, KeyError, TypeError, StopIteration, RecursionError) as error:
        raise SourceError(f"{path}: it is not a state file of --follow") from error


def _topic_document(progress: TopicProgress) -> dict[str, Any]:
    notices = progress.notices
    return {
        "topic": progress.topic_id,
        "partitions": [
            [each.number, each.read_to, each.watermark, [list(block) for block in each.blocks]]
            for each in progress.partitions
        ],
        "late": notices.late,
        "unplaced": notices.unplaced,
        "unreadable": notices.unreadable,
        "lines": list(notices.lines),
    }


def _topic_of(document: Mapping[str, Any]) -> TopicProgress:
    partitions = tuple(
        PartitionProgress(
            int(number),
            int(read_to),
            _number_or_none(watermark),
            tuple(Block(*map(int, block)) for block in blocks),
        )
        for number, read_to, watermark, blocks in document["partitions"]
    )
    late, unplaced, unreadable = (
        int(document[name]) for name in ("late", "unplaced", "unreadable")
    )
    topic_id = document.get("topic")  # earlier state files have none
    return TopicProgress(
        partitions,
        Notices(late, unplaced, unreadable, tuple(map(str, document["lines"]))),
        None if topic_id is None else str(topic_id),
    )


def _pair_of(document: Mapping[str, Any]) -> FollowedPair:
    ours, theirs = map(_rule_of, document["rules"])
    return FollowedPair(
        str(document["left"]),
        str(document["right"]),
        str(document["position"]),
        (ours, theirs),
        _number_or_none(document["since"]),
        _number_or_none(document["until"]),
    )


def _rule_of(text: object) -> WatermarkRule:
    if text not in ("progress", "rows"):
        raise ValueError(f"{text!r} is not a rule")
    return "progress" if text == "progress" else "rows"


def _number_or_none(value: object) -> int | None:
    return None if value is None else int(str(value))
