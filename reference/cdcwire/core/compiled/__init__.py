"""The engine of every fast decoder and encoder: bounded caches, one fallback, generated code.

A fast decoder accepts and rejects exactly what the plain decoder does, by construction. Input that
is not plainly regular, damaged or just rare, raises one of ``IRREGULARITIES``. The plain decoder
then takes that input and finds the error or the rows. So a fast decoder defines no error messages.

A fast encoder falls back in the same way, row by row.

- ``FastDecoder``: the interface of every fast decoder. ``core.rows`` has the rows that it returns.
- ``FastEncoder``, ``ImagePlans``: the interface of every fast encoder, and the plans that it keeps.
- ``Usual``, ``text_of_image``, ``texts_of_values``: How usual values are written, as data, and the
  functions that are generated of it.
- ``Irregular``, ``IRREGULARITIES``: The reasons why the plain decoder takes over.
- ``compile_function``: The only place in the project that turns text into code.
"""

from __future__ import annotations

from cdcwire.core.compiled.interfaces import (
    ENCODE_IRREGULARITIES,
    IRREGULARITIES,
    FastDecoder,
    FastEncoder,
    ImagePlans,
    Irregular,
)
from cdcwire.core.compiled.row_texts import (
    Usual,
    Write,
    Writer,
    compile_function,
    indented,
    refuse,
    text_of_image,
    texts_of_values,
)

__all__ = [
    "ENCODE_IRREGULARITIES",
    "IRREGULARITIES",
    "FastDecoder",
    "FastEncoder",
    "ImagePlans",
    "Irregular",
    "Usual",
    "Write",
    "Writer",
    "compile_function",
    "indented",
    "refuse",
    "text_of_image",
    "texts_of_values",
]
