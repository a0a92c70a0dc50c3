"""The Kafka key of a row as an image: the columns that it names, with their values."""

from __future__ import annotations

from cdcwire.connect.bounds import ConversionError
from cdcwire.connect.envelope import Parsed
from cdcwire.connect.fields import Origin, typed
from cdcwire.connect.logical import image_of
from cdcwire.model.events import Image


def image_of_key(parsed: Parsed) -> Image | None:
    """Return the columns of a key; None for one that is not a struct of columns.

    Without a schema the values show their types. Raises: DecodeError.
    """
    origin = Origin("key", parsed)
    envelope, _ = typed(origin, {})
    if envelope.schema is None or envelope.schema.type != "struct":
        return None
    if not isinstance(envelope.payload, tuple):
        return None
    try:
        return image_of(envelope.schema, envelope.payload, "")
    except ConversionError as error:
        raise origin.error(error.problem, error.clause, error.path) from error
