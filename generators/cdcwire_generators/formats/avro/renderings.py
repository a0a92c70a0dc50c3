"""The many bytes that mean one record: what an Avro reader takes, and no TiCDC writes.

Varints that are longer than needed, decimals with more sign bytes at the beginning, BITs with
leading zeros. The walk over the schema shares nothing with the codec. A schema is JSON, whose
members may come in any order.
"""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from cdcwire_generators.strategies.json_renderings import json_renderings

_HEADER = 5  # the magic byte and the number of the schema
_MAX_BIT_BYTES = 8
_VARINT_BYTES = {"int": 5, "long": 10}


@st.composite
def avro_renderings(draw: st.DrawFn, raw: bytes, schema: str) -> bytes:
    """Give other bytes of an envelope and the record after it, which has this schema."""
    walk = _Walk(draw, raw, _HEADER)
    for field in json.loads(schema)["fields"]:
        walk.copy(field["type"])
    assert walk.place == len(raw)
    return raw[:_HEADER] + bytes(walk.out)


@st.composite
def schema_renderings(draw: st.DrawFn, schema: str) -> str:
    """Give other texts of a schema: members in any order, unknown ones, white space, escapes."""
    return draw(json_renderings(schema.encode())).decode()


class _Walk:
    """Goes over a record, and writes it again with the freedom that readers have."""

    def __init__(self, draw: st.DrawFn, raw: bytes, place: int) -> None:
        self.draw = draw
        self.raw = raw
        self.place = place
        self.out = bytearray()

    def copy(self, kind: Any) -> None:
        """Copy a value of a type as JSON has it."""
        if isinstance(kind, list):
            return self.copy(kind[self._varint("int") >> 1])
        described = kind if isinstance(kind, dict) else {"type": kind}
        match described["type"]:
            case "null":
                return None
            case "record":
                for field in described["fields"]:
                    self.copy(field["type"])
                return None
            case "boolean":
                return self._bytes(1)
            case "float":
                return self._bytes(4)
            case "double":
                return self._bytes(8)
            case "int" | "long" as name:
                self._varint(name)
                return None
            case _:
                return self._sized(described)

    def _bytes(self, count: int) -> None:
        self.out += self.raw[self.place : self.place + count]
        self.place += count

    def _sized(self, described: dict[str, Any]) -> None:
        """Copy bytes with their length, followed by as many more as do not count."""
        length, start = self._take(), self.place
        assert length % 2 == 0  # zigzag: no length is negative
        found = self.raw[start : start + length // 2]
        self.place += len(found)
        more = 0
        if described.get("logicalType") == "decimal":
            more = self.draw(st.integers(0, 3))
        elif described.get("connect.parameters", {}).get("tidb_type") == "BIT":
            more = self.draw(st.integers(0, _MAX_BIT_BYTES - len(found)))
        is_negative = described.get("logicalType") == "decimal" and found[0] >= 0x80
        found = (b"\xff" if is_negative else b"\x00") * more + found
        self._write(2 * len(found), "long")
        self.out += found

    def _varint(self, name: str) -> int:
        number = self._take()
        self._write(number, name)
        return number

    def _take(self) -> int:
        number = shift = 0
        while True:
            byte = self.raw[self.place]
            self.place += 1
            number |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return number

    def _write(self, number: int, name: str) -> None:
        groups = [number & 0x7F]
        while number := number >> 7:
            groups.append(number & 0x7F)
        room = _VARINT_BYTES[name] - len(groups)
        if room and self.draw(st.integers(0, 3)) == 3:
            groups += [0] * self.draw(st.integers(1, room))
        self.out += bytes(group | 0x80 for group in groups[:-1]) + bytes(groups[-1:])
