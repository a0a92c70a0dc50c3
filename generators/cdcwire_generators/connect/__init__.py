"""The common part of Debezium JSON and CDL JSON:

Kafka Connect's columns, values, times and envelopes.
"""
