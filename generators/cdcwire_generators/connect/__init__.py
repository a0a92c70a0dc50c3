"""What Debezium JSON and CDL JSON share: Kafka Connect's columns, values, times and envelopes."""
