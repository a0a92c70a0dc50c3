"""Apache Avro: schemas, their JSON, binary values, the framing of registries, evolution."""
