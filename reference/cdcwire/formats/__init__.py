"""The formats, one package each. ``cdcwire.registry`` lists them.

Every package has the same calls. The subject comes first; everything else is passed by name.
``context`` has the producer's options, definitions of tables, schemas and a selection.

* ``to_events(message, context=)`` returns the neutral events of a ``KafkaMessage`` or a
  ``StoredFile``. ``from_events(events, context=)`` yields messages, batched as the producer does.
  A consumer of many messages has more from ``cdcwire.Decoder``.
* ``explain(message, context=)`` returns the spans of a message: every byte with its clause.
* ``decode(value, key=, context=)`` returns what a Kafka value or a file says, as the format's own
  values.
* ``encode(message, context=)`` returns the bytes of such values; for a format whose messages have
  keys, key and value. DataHub Tuple has ``record_of`` in its place.
* ``read_settings(context)`` returns the options as a ``Settings``; ``OPTIONS`` lists them.
"""
