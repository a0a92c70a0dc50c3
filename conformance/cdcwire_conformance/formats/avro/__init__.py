"""What the suite knows of avro."""
