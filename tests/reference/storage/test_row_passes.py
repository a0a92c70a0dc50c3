"""The rules over rows in two passes: nothing remembered first, then what is in question."""

from __future__ import annotations

from cdcwire.storage import DataPath, Fault, RowMark, RowRules

Files = list[tuple[str, list[tuple[int, bytes]]]]


def path(number: int, partition: int | None = None) -> DataPath:
    return DataPath("s", "t", 1, partition, "", number)


def run(rules: RowRules, files: Files) -> list[Fault]:
    found: list[Fault] = []
    for number, (name, rows) in enumerate(files, start=1):
        marks = [RowMark(commit_ts, content) for commit_ts, content in rows]
        found += rules.check_file(name, path(number), marks)
    return found


IN_ORDER: Files = [("a", [(1, b"x"), (2, b"y")]), ("b", [(3, b"z"), (3, b"w")])]
REPEATED: Files = [("a", [(1, b"x"), (2, b"y")]), ("b", [(1, b"x"), (2, b"y"), (3, b"z")])]
FALLEN: Files = [("a", [(1, b"x"), (2, b"y")]), ("b", [(1, b"other"), (3, b"z")])]
SPLIT: Files = [("a", [(1, b"x"), (2, b"y")]), ("b", [(2, b"z")])]


def passes(files: Files, *, atomic: bool = False) -> tuple[list[Fault], RowRules]:
    first = RowRules(atomic, watched=frozenset())
    faults = run(first, files)
    if not first.suspects:
        return faults, first
    second = RowRules(atomic, watched=first.suspects)
    return run(second, files), second


def test_rows_in_order_are_not_suspects() -> None:
    rules = RowRules(True, watched=frozenset())
    assert run(rules, IN_ORDER) == []
    assert (rules.suspects, rules.suspected) == (set(), set())


def test_rows_out_of_order_are_suspects_of_their_stream() -> None:
    rules = RowRules(watched=frozenset())
    assert [fault.kind for fault in run(rules, REPEATED)] == ["commit-ts-falls"]
    assert rules.suspects == {1}
    assert rules.suspected == {("s", "t", None, None)}


def test_two_passes_find_what_one_that_remembers_all_finds() -> None:
    for files in (IN_ORDER, REPEATED, FALLEN, SPLIT):
        for atomic in (False, True):
            whole = RowRules(atomic)
            expected = run(whole, files)
            faults, rules = passes(files, atomic=atomic)
            assert faults == expected
            assert (rules.repeats > 0) == (whole.repeats > 0)


def test_two_passes_know_a_repeat_and_a_fall_apart() -> None:
    assert passes(REPEATED)[0] == []
    assert [(fault.kind, fault.path, fault.steps) for fault in passes(FALLEN)[0]] == [
        ("commit-ts-falls", "b", ("rows", 0))
    ]


def test_scan_without_watched_columns_remembers_no_row() -> None:
    rules = RowRules(watched=frozenset())
    files: Files = [("a", [(number, b"x") for number in range(1000)])]
    assert run(rules, [files[0]])[0].kind == "row-before-version"
    (stream,) = rules._streams.values()
    assert (len(stream.digests), len(stream.file_by_commit_ts)) == (0, 0)
