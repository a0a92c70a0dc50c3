"""Two normal forms for a comparison of events: joined updates, and events without tombstones.

A format that sends an update as two records gives two events with ``half``; a testee may answer
these, or one update. Both sides are joined, so that either meets either.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cdcwire.model.text import Json


def join_halves(events: Sequence[Json]) -> list[Json]:
    """Return the events with each before-half and the after-half that follows made one update.

    The two records are of one table and one position. One alone stays as it is.
    """
    joined: list[Json] = []
    for group in group_halves(events):
        if len(group) == 1:
            joined.append(events[group[0]])
            continue
        before, after = (events[index] for index in group)
        whole = {**before, **after, "op": "update", "before": before.get("before")}
        del whole["half"]
        joined.append(whole)
    return joined


def group_halves(events: Sequence[Json]) -> list[tuple[int, ...]]:
    """Return the indexes of the events: both records of an update together, other events alone."""
    groups: list[tuple[int, ...]] = []
    for index, event in enumerate(events):
        before = events[index - 1] if groups and len(groups[-1]) == 1 else {}
        if _is_half(event, "after") and _is_half(before, "before") and _same_row(before, event):
            groups[-1] = (index - 1, index)
        else:
            groups.append((index,))
    return groups


def _is_half(event: Json, half: str) -> bool:
    return isinstance(event, Mapping) and event.get("half") == half


def _same_row(before: Mapping[str, Json], after: Mapping[str, Json]) -> bool:
    names = ("database", "schema", "table")
    if any(before.get(name) != after.get(name) for name in names):
        return False
    ours, theirs = before.get("position") or {}, after.get("position") or {}
    if not (isinstance(ours, Mapping) and isinstance(theirs, Mapping)):
        return False
    return all(ours.get(name) == theirs.get(name) for name in ("sequence_id", "commit_ts", "lsn"))


def is_tombstone(event: Json) -> bool:
    """Return whether an event is the marker of a message without value."""
    return (
        isinstance(event, Mapping)
        and event.get("kind") == "marker"
        and event.get("what") == "tombstone"
    )
