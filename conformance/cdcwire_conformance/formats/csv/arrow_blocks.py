"""CSV files of the storage sink read by pyarrow, many records at once, and proved to be right.

pyarrow's reader is lenient: it takes a quoted number, a text without quotes, a quote amidst a
field. So what it reads is written again, all records at once, as the format has it: numbers in
their digits, strings in quotes, NULL bare. The file was read by the format's rules only if this
gives its very bytes: the format's own reader gives back what was written so. Any doubt raises
Irregular, and the file is then read record by record, which gives the rows or the error with its
place.

Not read here: files without quotes, delimiters of several characters, terminators other than line
ends, handle keys, and columns of kinds that few tables have.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as pa_csv

from cdcwire.core.errors import DecodeError
from cdcwire.formats.csv.header import read_header
from cdcwire.formats.csv.settings import Settings
from cdcwire.formats.csv.tables import FilePlan
from cdcwire.formats.csv.values import ColumnCodec
from cdcwire.model import kinds
from cdcwire_conformance.arrow.column_decoders import Irregular
from cdcwire_conformance.formats.csv.arrow_values import can_convert

BLOCK_BYTES = 4 << 20
_LINE_ENDS = frozenset({b"\n", b"\r\n"})
_BINARY = pa.binary()
_MAX_TRIES = 64  # line ends in the texts of a record, looked at before a block is given up
_FREE_TEXTS = (kinds.TextType, kinds.JsonType, kinds.EnumType, kinds.SetType)
_NO_SIGNS = frozenset(b"0123456789+-. eE\r\n")

Numbers: TypeAlias = Any  # a numpy array


@dataclass(frozen=True, slots=True)
class Block:
    """Whole records: ``ops`` as I, U, D; ``commit_ts`` None without the setting.

    ``is_half``: whether a record is one of two of an update. ``cells``: the columns of the file in
    order, numbers as integers, all else as the bytes of its text; NULL where the file has NULL.
    """

    ops: pa.Array
    commit_ts: Numbers | None
    is_half: Numbers | None
    cells: tuple[pa.Array, ...]

    @property
    def rows(self) -> int:
        """The number of records."""
        return len(self.ops)


def can_read(settings: Settings, codecs: Sequence[ColumnCodec | None]) -> bool:
    """Return whether files of these settings and columns are read here."""
    signs = (settings.delimiter, settings.quote)
    if any(len(sign) != 1 or sign[0] > 0x7F or sign[0] in _NO_SIGNS for sign in signs):
        return False
    if settings.terminator not in _LINE_ENDS or settings.output_handle_key:
        return False
    return all(codec is not None and can_convert(codec) for codec in codecs)


class BlockReader:
    """Reads the files of one table's version. Keep one."""

    def __init__(self, plan: FilePlan, settings: Settings) -> None:
        self.settings = settings
        self.names = plan.names
        codecs = [codec for codec in plan.codecs if codec is not None]
        assert len(codecs) == len(plan.codecs)
        types: list[pa.DataType] = [_BINARY] * 3
        if settings.include_commit_ts:
            types.append(pa.uint64())
        if settings.output_old_value:
            types.append(_BINARY)
        self._heads = len(types)
        types += [_cell_type(codec) for codec in codecs]
        self._is_bare = [True] * self._heads + [codec.is_bare for codec in codecs]
        self._is_bare[0] = False
        # A date with a quote is not a date: written back without its pair, it will not be the same.
        self._may_have_quotes = [False] * (self._heads - 2)
        self._may_have_quotes += [isinstance(codec.kind, _FREE_TEXTS) for codec in codecs]
        names = [f"f{number}" for number in range(len(types))]
        null = settings.null.decode("latin-1")
        # The names of table and schema are compared when the records are written again.
        included = [names[0], *names[3:]]
        self._read_options = {"use_threads": False, "column_names": names}
        self._parse_options = pa_csv.ParseOptions(
            delimiter=settings.delimiter.decode("ascii"),
            quote_char=settings.quote.decode("ascii"),
            newlines_in_values=True,
            ignore_empty_lines=False,
        )
        self._convert_options = pa_csv.ConvertOptions(
            column_types=dict(zip(names, types, strict=True)),
            null_values=[null],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            check_utf8=False,
            include_columns=included,
        )
        quote = settings.quote
        self._table = b"".join(
            settings.delimiter + quote + name.encode().replace(quote, quote * 2) + quote
            for name in (plan.table.name or "", plan.table.schema or "")
        )

    def blocks(self, value: bytes) -> Iterator[Block]:
        """Yield the records of a file. Raises: Irregular, after the blocks that are as usual."""
        try:
            _, names, offset = read_header(value, self.settings, self.names)
        except DecodeError as error:
            raise Irregular from error
        if names is not None and tuple(names) != self.names:
            raise Irregular
        while offset < len(value):
            end = self._end(value, offset)
            block, taken = self._block(memoryview(value)[offset:end], is_last=end == len(value))
            yield block
            offset += taken

    def _end(self, value: bytes, start: int) -> int:
        """Return the end of a block: after a terminator outside any text. Raises: Irregular."""
        terminator, quote = self.settings.terminator, self.settings.quote
        if not value.endswith(terminator):
            raise Irregular
        end = start + BLOCK_BYTES
        if end >= len(value):
            return len(value)
        for _ in range(_MAX_TRIES):
            found = value.rfind(terminator, start, end)
            if found < 0:
                end = value.find(terminator, end) + len(terminator)
            else:
                end = found + len(terminator)
            if value.count(quote, start, end) % 2 == 0:
                return end
            if found < 0:
                break
            end = found
        raise Irregular

    def _block(self, raw: memoryview, is_last: bool) -> tuple[Block, int]:
        """Return the records of these bytes, and how many of the bytes they are."""
        options = pa_csv.ReadOptions(block_size=len(raw) + 1, **self._read_options)
        try:
            table = pa_csv.read_csv(
                pa.BufferReader(pa.py_buffer(raw)),
                options,
                self._parse_options,
                self._convert_options,
            ).combine_chunks()
        except pa.ArrowException as error:
            raise Irregular from error
        columns = [_whole(column) for column in table.columns]
        written = self._written(columns)
        if not _is_same(written, raw):
            raise Irregular
        ops, *rest = columns
        commit_ts = is_half = None
        if ops.null_count:
            raise Irregular
        if self.settings.include_commit_ts:
            found = rest.pop(0)
            if found.null_count:
                raise Irregular
            commit_ts = found.to_numpy()
        if self.settings.output_old_value:
            is_half = _flags(rest.pop(0))
        taken = len(raw)
        if not is_last and is_half is not None and is_half[-1] and ops[-1].as_py() == b"D":
            # The other half of the last record is in the next block.
            if len(ops) == 1:
                raise Irregular
            taken -= len(written[-1].as_py())
            ops, rest = ops[:-1], [cells[:-1] for cells in rest]
            is_half = is_half[:-1]
            commit_ts = None if commit_ts is None else commit_ts[:-1]
        return Block(ops, commit_ts, is_half, tuple(rest)), taken

    def _written(self, columns: list[pa.Array]) -> pa.Array:
        """Return the records as the format writes them."""
        settings = self.settings
        null, quote, delimiter = settings.null, settings.quote, settings.delimiter
        parts: list[pa.Array | pa.Scalar] = []
        literal = b""
        bare = [self._is_bare[0], *self._is_bare[3:]]
        for number, (column, is_bare) in enumerate(zip(columns, bare, strict=True)):
            if number == 1:
                literal += self._table
            if number:
                literal += delimiter
            if is_bare:
                text = column if column.type == _BINARY else column.cast(pa.string()).cast(_BINARY)
                if column.null_count:
                    text = text.fill_null(null)
                parts += [pa.scalar(literal, _BINARY), text]
                literal = b""
                continue
            text = column
            is_free = self._may_have_quotes[number]
            if is_free and pc.any(pc.match_substring(column, quote.decode("ascii"))).as_py():
                text = pc.replace_substring(column, quote, quote * 2)
            if column.null_count:
                sign = pa.scalar(quote, _BINARY)
                text = pc.binary_join_element_wise(sign, text, sign, b"").fill_null(null)
                parts += [pa.scalar(literal, _BINARY), text]
                literal = b""
            else:
                parts += [pa.scalar(literal + quote, _BINARY), text]
                literal = quote
        parts.append(pa.scalar(literal + settings.terminator, _BINARY))
        return pc.binary_join_element_wise(*parts, pa.scalar(b"", _BINARY))


def _cell_type(codec: ColumnCodec) -> pa.DataType:
    match codec.kind:
        case kinds.IntType(unsigned=False):
            return pa.int64()
        case kinds.IntType() | kinds.BitType() | kinds.YearType():
            return pa.uint64()
        case _:
            return _BINARY


def _whole(column: pa.ChunkedArray) -> pa.Array:
    if column.num_chunks == 1:
        return column.chunk(0)
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)


def _is_same(written: pa.Array, raw: memoryview) -> bool:
    """Return whether the records, one after another, are these bytes."""
    if not len(written):
        return not len(raw)
    _, offsets, data = written.buffers()
    if written.offset or data is None or offsets is None:
        return False
    last = np.frombuffer(offsets, np.int32, len(written) + 1)[-1]
    return int(last) == len(raw) and data.slice(0, int(last)).equals(pa.py_buffer(raw))


def _flags(texts: pa.Array) -> Numbers:
    is_true = pc.equal(texts, pa.scalar(b"true", _BINARY))
    is_false = pc.equal(texts, pa.scalar(b"false", _BINARY))
    if not pc.all(pc.or_(is_true, is_false), skip_nulls=False).as_py():
        raise Irregular
    return is_true.to_numpy(zero_copy_only=False)
