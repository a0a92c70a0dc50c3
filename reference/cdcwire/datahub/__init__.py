"""What DataHub's two kinds of topics share: fields, bodies in three encodings, sharding."""
