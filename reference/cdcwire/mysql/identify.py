"""The signs of compressed values, which TiCDC's formats for queues share."""

from __future__ import annotations

from cdcwire.core.guess import OptionValues

COMPRESSION = "large-message-handle-compression"
LZ4_FRAME = b"\x04\x22\x4d\x18"
_MOST_COMPRESSED = 1 << 20  # one byte of lz4 may stand for 255: larger values are not tried


def compressions_of(value: bytes) -> tuple[OptionValues, ...]:
    """Return the compressions that a value that is not JSON may have; none for a large one."""
    if len(value) > _MOST_COMPRESSED:
        return ()
    if value.startswith(LZ4_FRAME):
        return ({COMPRESSION: "lz4"},)
    return ({COMPRESSION: "snappy"},) if _has_snappy_size(value) else ()


def _has_snappy_size(value: bytes) -> bool:
    """Return whether a block begins with a size that its bytes can have, and then a literal."""
    size = shift = 0
    for index, byte in enumerate(value[:5]):
        size |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            tags = value[index + 1 : index + 2]
            return 0 < size <= 64 * len(value) and tags != b"" and tags[0] & 3 == 0
    return False
