"""The suite's part of debezium-avro."""
