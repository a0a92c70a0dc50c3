"""What the suite knows of debezium-json."""
