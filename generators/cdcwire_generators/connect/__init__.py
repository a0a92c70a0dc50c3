"""Kafka Connect's columns, values, times and envelopes, which Debezium JSON and CDL JSON share."""
