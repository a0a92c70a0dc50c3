"""Caches of the fast decoders forget, and functions have to be earned."""

from __future__ import annotations

from cdcwire.core.caches import BoundedCache, Credit, Memo


def test_bounded_forgets_everything_when_it_gets_too_heavy() -> None:
    bounded: BoundedCache[str, int] = BoundedCache(10)
    bounded.keep("a", 1, 6)
    bounded.keep("b", 2, 4)
    assert bounded == {"a": 1, "b": 2}
    bounded.keep("c", 3, 1)
    assert bounded == {"c": 3}
    assert bounded.weight == 1
    bounded.grow(10)
    assert bounded == {}


def test_credit_is_spent_only_if_there_is_enough() -> None:
    credit = Credit()
    first = credit.left
    assert not credit.spend(first + 1)
    credit.earn(1)
    assert credit.spend(first + 1)
    assert credit.left == 0


def test_credit_is_not_hoarded() -> None:
    credit = Credit()
    credit.earn(1 << 60)
    assert credit.left < 1 << 30


def test_memo_reads_each_text_once() -> None:
    read: list[str] = []

    def length(text: str) -> int:
        read.append(text)
        return len(text)

    memo = Memo(length)
    assert (memo["ab"], memo["ab"]) == (2, 2)
    assert read == ["ab"]


def test_memo_forgets_all_at_its_limit_and_keeps_no_long_texts() -> None:
    memo: Memo[str, int] = Memo(len, limit=2, longest=3)
    for text in ("a", "b", "long"):
        assert memo[text] == len(text)
    assert memo == {"a": 1, "b": 1}
    assert memo["c"] == 1
    assert memo == {"c": 1}
