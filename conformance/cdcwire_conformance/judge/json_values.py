"""JSON documents compared by what they say: numbers exactly, members in any order.

A name that occurs twice counts twice: its values are compared in their order. 1, 1.0 and 10e-1 are
one number. A text that is not JSON equals only itself.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import TypeAlias

from cdcwire.console.problems import InvalidJsonError, json_problem, no_constant


@dataclass(frozen=True, slots=True)
class _Members:
    pairs: list[tuple[str, _Exact]]


@dataclass(frozen=True, slots=True)
class _HugeNumber:
    """A number beyond what Decimal can hold, kept as its text."""

    text: str


_Exact: TypeAlias = "_Members | list[_Exact] | str | bool | Decimal | _HugeNumber | None"


def json_difference(expected: str, given: str) -> str | None:
    """Return None if both texts say the same; else where they differ first, or why not."""
    if expected == given:
        return None
    try:
        left = _parse(expected)
    except ValueError:
        return "the expected text is not JSON, so only the same text is equal"
    try:
        right = _parse(given)
    except ValueError as error:
        return json_problem(error)
    try:
        return _difference(left, right, "$")
    except RecursionError:
        return "nested too deep to be compared as JSON, and the texts differ"


def _parse(text: str) -> _Exact:
    try:
        parsed: _Exact = json.loads(
            text,
            parse_int=_number,
            parse_float=_number,
            parse_constant=no_constant,
            object_pairs_hook=_Members,
        )
    except RecursionError as error:
        raise InvalidJsonError("nested too deep") from error
    return parsed


def _number(text: str) -> Decimal | _HugeNumber:
    try:
        return Decimal(text)
    except InvalidOperation:
        return _HugeNumber(text)


def _difference(left: _Exact, right: _Exact, path: str) -> str | None:
    if type(left) is not type(right):
        return f"at {path}"
    if isinstance(left, _Members) and isinstance(right, _Members):
        return _difference_of_members(left, right, path)
    if isinstance(left, list) and isinstance(right, list):
        for index, (one, other) in enumerate(zip(left, right, strict=False)):
            if found := _difference(one, other, f"{path}[{index}]"):
                return found
        return None if len(left) == len(right) else f"at {path}: {len(left)}, {len(right)} items"
    return None if left == right else f"at {path}"


def _difference_of_members(left: _Members, right: _Members, path: str) -> str | None:
    ours, theirs = _by_name(left), _by_name(right)
    for name in (*ours, *(name for name in theirs if name not in ours)):
        place = f"{path}.{name}"
        left_values, right_values = ours.get(name, []), theirs.get(name, [])
        if len(left_values) != len(right_values):
            return f"at {place}"
        for one, other in zip(left_values, right_values, strict=True):
            if found := _difference(one, other, place):
                return found
    return None


def _by_name(members: _Members) -> dict[str, list[_Exact]]:
    found: dict[str, list[_Exact]] = defaultdict(list)
    for name, value in members.pairs:
        found[name].append(value)
    return found
