"""The many ways to write one JSON object that a decoder takes, and no producer uses.

Members in any order, unknown members, white space, other escapes. Texts of numbers stay as they
are, and so does the order of the members in objects whose order says that of columns.
"""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

_UNKNOWN = ("x_new", {"a": [1, -2.5, None, True, "\u00e9"]})
_SPACES = ("", "", " ", "\r\n\t")


@st.composite
def json_renderings(draw: st.DrawFn, raw: bytes) -> bytes:
    """Give other texts of a JSON object. Only its own members change their order."""
    members = list(json.loads(raw).items())
    if draw(st.booleans()):
        members.append(_UNKNOWN)
    return _object(draw, draw(st.permutations(members))).encode()


def _value(draw: st.DrawFn, value: Any) -> str:
    if isinstance(value, dict):
        return _object(draw, list(value.items()))
    if isinstance(value, list):
        space = draw(st.sampled_from(_SPACES))
        return f"[{space}{f'{space},{space}'.join(_value(draw, each) for each in value)}{space}]"
    return json.dumps(value, ensure_ascii=draw(st.booleans()))


def _object(draw: st.DrawFn, members: list[tuple[str, Any]]) -> str:
    space = draw(st.sampled_from(_SPACES))
    pairs = [f"{_value(draw, name)}{space}:{space}{_value(draw, value)}" for name, value in members]
    return f"{{{space}{f'{space},{space}'.join(pairs)}{space}}}"
