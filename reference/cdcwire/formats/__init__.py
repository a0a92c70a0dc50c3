"""The formats, one package each. ``cdcwire.core.registry`` lists them.

``get_format`` and ``FORMAT_NAMES`` are importable from here too. Every package has the same calls.
The subject comes first; everything else is passed by name:

* ``decode(value, key=, context=)`` returns what a Kafka value or a file says, as the format's own
  values. ``context`` has the producer's options, definitions of tables, schemas and a selection.
* ``encode(message, context=)`` returns the bytes of such values; for a format whose messages have
  keys, key and value. DataHub Tuple has ``record_of`` in its place.
* ``to_events(message, …)`` and ``from_events(events, …)`` lead to and from the neutral model.
* ``read_settings(context)`` returns the options as a ``Settings``; ``OPTIONS`` lists them.
"""

from cdcwire.core.registry import FORMAT_NAMES, get_format

__all__ = ["FORMAT_NAMES", "get_format"]
