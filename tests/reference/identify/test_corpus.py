"""``identify`` over the golden corpus: the right format, and never sure of a wrong one.

``python tests/reference/identify/test_corpus.py`` writes the table of the how-to page anew.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from cdcwire.compressions import known_compressions
from cdcwire.core.context import Context
from cdcwire.core.message import KafkaMessage, Message, StoredFile
from cdcwire.identify import Identification, Sample, identify_messages
from cdcwire.registry import FORMAT_NAMES, get_format
from cdcwire_conformance.corpus.case import Case
from cdcwire_conformance.corpus.store import load_cases

PAGE = Path(__file__).resolve().parents[3] / "docs" / "how-to" / "identify-messages.md"
TABLE = re.compile(r"(?<=<!-- table of the corpus -->\n).*?(?=\n\n)", re.DOTALL)
LEAST_IDENTIFIED = 0.99
# Broken for one format, whole for the other.
# A plain row without a schema, whose added fields have names of its own: no byte says Debezium.
WITHOUT_SIGNS = {"debezium-json/unwrapped/own-names"}
# In Avro a row by itself and a heartbeat have an id and values, as any record has. So has a change
# of a producer that writes its version in another way.
ANY_RECORD = re.compile(
    r"debezium-avro/(?:unwrapped/.*|.*tombstone.*|[a-z-]+/(?:.*-)?heartbeat.*|connectors/unknown.*)"
)
OF_THE_OTHER_FORM = {"craft/message/proposal-form", "craft-proposal/message/shipped-form"}


def _identify(case: Case) -> Identification:
    """Identify the bytes of a case, without its options, tables and schemas."""
    samples = [Sample(str(index), (each,)) for index, each in enumerate(case.messages)]
    return identify_messages(samples, Context(compressions=known_compressions()))


def _accept_cases() -> Iterator[tuple[Case, Identification]]:
    for case in load_cases():
        if case.expect != "accept" or ANY_RECORD.fullmatch(case.id):
            continue
        if case.id not in WITHOUT_SIGNS:
            yield case, _identify(case)


def _is_legal_in_several(found: Identification) -> bool:
    return sum(each.decoded == found.count for each in found.candidates) > 1


def _verdict(case: Case, result: Identification) -> str:
    found = result.found
    if found is not None:
        return found.sureness if found.format == case.format else "wrong"
    if case.format not in (each.format for each in result.candidates):
        return "not found"
    return "several" if _is_legal_in_several(result) else "possible"


def _count(results: list[tuple[Case, Identification]]) -> dict[str, Counter[str]]:
    counts = {name: Counter[str]() for name in FORMAT_NAMES}
    for case, result in results:
        counts[case.format][_verdict(case, result)] += 1
    return counts


def _table(counts: dict[str, Counter[str]]) -> str:
    columns = ("sure", "likely", "possible", "several", "wrong")
    rows: list[tuple[str, ...]] = [("format", "cases", *columns), ("---",) * 7]
    for name, count in [*counts.items(), ("all", sum(counts.values(), Counter[str]()))]:
        rows.append((name, str(sum(count.values())), *(str(count[each]) for each in columns)))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def test_golden_messages_are_identified_and_never_wrongly() -> None:
    results = list(_accept_cases())
    counts = _count(results)
    total = sum(counts.values(), Counter[str]())
    print(_table(counts))
    assert not total["wrong"]
    assert not total["not found"]
    clear = total["sure"] + total["likely"]
    assert clear >= LEAST_IDENTIFIED * (total.total() - total["several"])
    shown = TABLE.search(PAGE.read_text(encoding="utf-8"))
    assert shown is not None
    assert shown[0] == _table(counts)


def test_schemas_and_definitions_make_the_formats_that_need_them_sure() -> None:
    def result_of(case: Case) -> Identification:
        samples = [Sample(str(index), (each,)) for index, each in enumerate(case.messages)]
        known = case.context()
        return identify_messages(
            samples,
            Context(tables=known.tables, schemas=known.schemas, compressions=known_compressions()),
        )

    for name in FORMAT_NAMES:
        format_ = get_format(name)
        if format_.schemas is None and not format_.needs_tables:
            continue
        cases = [
            case
            for case in load_cases([name])
            if case.expect == "accept"
            and case.level == "must"
            and not ANY_RECORD.fullmatch(case.id)
        ]
        results = [(case, result_of(case)) for case in cases]
        verdicts = Counter(_verdict(case, result) for case, result in results)
        assert not verdicts["wrong"]
        assert verdicts["sure"] >= 0.9 * (verdicts.total() - verdicts["several"]), name


def test_broken_messages_are_never_surely_another_format() -> None:
    sure_of_other = {
        case.id
        for case in load_cases()
        if case.expect == "reject"
        and (found := _identify(case).found) is not None
        and found.sureness == "sure"
        and found.format != case.format
    }
    assert sure_of_other == OF_THE_OTHER_FORM


def _damaged(message: Message, chance: random.Random) -> Message:
    value = bytearray(message.value or b"\0")
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(value) + 1)
        match chance.randrange(3):
            case 0:
                value[at : at + 1] = bytes([chance.randrange(256)])
            case 1:
                del value[at : at + chance.randint(1, 9)]
            case _:
                value[at:at] = chance.randbytes(chance.randint(1, 9))
    if isinstance(message, StoredFile):
        return StoredFile(message.path, bytes(value))
    return KafkaMessage(message.key, bytes(value))


def test_damaged_messages_never_stop_identification() -> None:
    chance = random.Random(20)
    cases = chance.sample([case for case in load_cases() if case.expect == "accept"], 300)
    for case in cases:
        samples = [
            Sample(str(index), (_damaged(each, chance),))
            for index, each in enumerate(case.messages)
        ]
        identify_messages(samples, Context(compressions=known_compressions()))


def main() -> None:
    """Write the table of the page anew."""
    page = PAGE.read_text(encoding="utf-8")
    table = _table(_count(list(_accept_cases())))
    PAGE.write_text(TABLE.sub(lambda _: table, page), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
