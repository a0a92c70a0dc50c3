"""CSV files of the storage sink read by pyarrow, many records at once, and proved to be right.

pyarrow's reader is lenient: it takes a quoted number, a text without quotes, a quote amidst a
field. So the places of all cells are computed from what it read: numbers have their digits, strings
two quotes, and NULL is bare. The quotes, and the delimiters after numbers, must be at these places
of the file. A cell that is written otherwise moves them, or has another sign there. Any doubt
raises Irregular, and the file is then read record by record, which gives the rows or the error with
its place.

Not read here: files without quotes, delimiters of several characters, terminators other than line
ends, handle keys, and columns of kinds that few tables have.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as pa_csv

from cdcwire.arrow.building import Numbers, offsets_of, validity_of, windows_of
from cdcwire.arrow.column_decoders import Irregular
from cdcwire.core.errors import DecodeError
from cdcwire.formats.csv.settings import Settings
from cdcwire.formats.csv.tables import FilePlan
from cdcwire.formats.csv.values import ColumnCodec
from cdcwire.formats.csv.wire import read_header
from cdcwire.model import kinds
from cdcwire_conformance.formats.csv.arrow_values import can_convert

BLOCK_BYTES = 4 << 20
_LINE_ENDS = frozenset({b"\n", b"\r\n"})
_BINARY = pa.binary()
_MAX_TRIES = 64  # line ends in the texts of a record, looked at before a block is given up
_FREE_TEXTS = (kinds.TextType, kinds.JsonType, kinds.EnumType, kinds.SetType)
_NO_SIGNS = frozenset(b"0123456789+-. eExX\r\n")
_LEAST_HEX = 10**6
_HEX, _TO_LOWER = ord("x"), 0x20
_PART = 1 << 18  # bytes that are looked at together


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
        # Of the operation, commit-ts and the like, and the columns.
        self._is_bare = [False] + [True] * (self._heads - 3) + [codec.is_bare for codec in codecs]
        # A date with a quote is not a date, and is refused as such.
        self._may_have_quotes = [False] * (self._heads - 2)
        self._may_have_quotes += [isinstance(codec.kind, _FREE_TEXTS) for codec in codecs]
        names = [f"f{number}" for number in range(len(types))]
        null = settings.null.decode("latin-1")
        # The names of table and schema are compared with the bytes.
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
            if _count(np.frombuffer(value, np.uint8)[start:end], quote[0]) % 2 == 0:
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
        ends = self._ends(columns, raw)
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
            taken = int(ends[-2])
            ops, rest = ops[:-1], [cells[:-1] for cells in rest]
            is_half = is_half[:-1]
            commit_ts = None if commit_ts is None else commit_ts[:-1]
        return Block(ops, commit_ts, is_half, tuple(rest)), taken

    def _ends(self, columns: list[pa.Array], raw: memoryview) -> Numbers:
        """Return where each record ends. Raises: Irregular for what the format writes otherwise.

        The sizes of the cells give the place of each. The cells are checked in order. A cell that
        begins at its place and passes the check has its size, so the next one begins at its place.
        """
        data = np.frombuffer(raw, np.uint8)
        cells = [
            _Cells(column, is_bare, may_have_quotes, self.settings)
            for column, is_bare, may_have_quotes in zip(
                columns, self._is_bare, self._may_have_quotes, strict=True
            )
        ]
        # Each cell is followed by one delimiter, the last one by the terminator.
        literals = len(columns) - 1 + len(self._table) + len(self.settings.terminator)
        lengths = np.full(len(columns[0]), literals)
        for each in cells:
            lengths += each.sizes
        ends = np.cumsum(lengths)
        if not len(ends) or ends[-1] != len(data):
            raise Irregular
        at = ends - lengths
        for index, each in enumerate(cells):
            stops = at + each.sizes
            each.check(data, at, stops)
            if index == 0:
                _expect(data, stops, self._table)
                stops += len(self._table)
            # A number that is written otherwise is longer, and goes on after its size.
            has_delimiter = each.is_bare and index < len(cells) - 1
            if has_delimiter and (data.take(stops) != self.settings.delimiter[0]).any():
                raise Irregular
            at = stops + 1
        _expect(data, stops, self.settings.terminator)
        return ends


class _Cells:
    """The cells of a column in a block. ``sizes``: how many bytes the format gives to each."""

    def __init__(
        self, column: pa.Array, is_bare: bool, may_have_quotes: bool, settings: Settings
    ) -> None:
        self.is_valid = validity_of(column)
        self.is_bare = is_bare
        self.quote = settings.quote[0]
        self.may_be_hex = False
        self.inner: _InnerQuotes | None = None
        if column.type != _BINARY:
            self.sizes, self.may_be_hex = _digits(column, self.is_valid)
        else:
            offsets = offsets_of(column)
            self.sizes = np.diff(offsets)
            if not is_bare:
                self.sizes += 2
            if may_have_quotes:
                self.inner = _InnerQuotes.of(column, offsets, self.quote)
            if self.inner is not None:
                self.sizes += self.inner.counts
        if self.is_valid is not None:
            self.sizes[~self.is_valid] = len(settings.null)

    def check(self, data: Numbers, at: Numbers, stops: Numbers) -> None:
        """Check the quotes of the cells between these places. Raises: Irregular.

        A cell with text after its quotes has the last sign of the text in place of the last quote.
        If the text has quotes, there is another sign in place of the first one of them.
        """
        if self.may_be_hex and ((data.take(at + 1, mode="clip") | _TO_LOWER) == _HEX).any():
            raise Irregular
        if self.is_bare:
            return
        for places in (at, stops - 1):
            is_other = data.take(places) != self.quote
            if self.is_valid is not None:
                is_other &= self.is_valid
            if is_other.any():
                raise Irregular
        if self.inner is not None:
            places = self.inner.places + np.repeat(at + self.inner.shifts, self.inner.counts)
            for each in (places, places + 1):
                if (data.take(each) != self.quote).any():
                    raise Irregular


@dataclass(frozen=True, slots=True)
class _InnerQuotes:
    """The quotes in the texts of a column: ``counts`` of each text, and where the file has them.

    The first of the two quotes for one is at its ``places``, plus the text's ``shifts``, plus the
    place of the text's cell.
    """

    counts: Numbers
    places: Numbers
    shifts: Numbers

    @classmethod
    def of(cls, column: pa.Array, offsets: Numbers, quote: int) -> _InnerQuotes | None:
        """Return the quotes of a column; None if it has none."""
        signs = column.buffers()[2]
        if signs is None:
            return None
        start = int(offsets[0])
        found = np.flatnonzero(np.frombuffer(signs, np.uint8)[start : offsets[-1]] == quote) + start
        if not len(found):
            return None
        ranks: Numbers = np.searchsorted(found, offsets)
        # Each quote before another one in the text has moved it by one.
        return cls(np.diff(ranks), found + np.arange(len(found)), 1 - offsets[:-1] - ranks[:-1])


def _digits(numbers: pa.Array, is_valid: Numbers | None) -> tuple[Numbers, bool]:
    """Return the digits of each number, with its sign, and whether it may be a hexadecimal one.

    pyarrow reads these as well. One of less than seven digits is longer than its decimal digits.
    """
    sign = "u" if pa.types.is_unsigned_integer(numbers.type) else "i"
    values = np.frombuffer(numbers.buffers()[1], f"{sign}{numbers.type.bit_width // 8}")
    values = values[numbers.offset : numbers.offset + len(numbers)]
    if is_valid is not None:
        values = np.where(is_valid, values, 0)
    sizes = np.ones(len(values), np.int32)
    if numbers.type == pa.int64():
        is_negative = values < 0
        sizes += is_negative
        values = np.abs(values).view(np.uint64)
    least, largest = (int(values.min()), int(values.max())) if len(values) else (0, 0)
    power = 10
    while power <= largest:
        sizes += 1 if power <= least else values >= power
        power *= 10
    return sizes, largest >= _LEAST_HEX


def _count(data: Numbers, sign: int) -> int:
    """Return how often a byte occurs."""
    return sum(
        int(np.count_nonzero(data[start : start + _PART] == sign))
        for start in range(0, len(data), _PART)
    )


def _expect(data: Numbers, places: Numbers, literal: bytes) -> None:
    """Check that the same bytes are at all places. Raises: Irregular."""
    if windows_of(data, len(literal))[places].tobytes() != literal * len(places):
        raise Irregular


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


def _flags(texts: pa.Array) -> Numbers:
    is_true = pc.equal(texts, pa.scalar(b"true", _BINARY))
    is_false = pc.equal(texts, pa.scalar(b"false", _BINARY))
    if not pc.all(pc.or_(is_true, is_false), skip_nulls=False).as_py():
        raise Irregular
    return is_true.to_numpy(zero_copy_only=False)
