"""The shared parts of DataHub's kinds of topics: fields, bodies in three encodings, sharding."""
