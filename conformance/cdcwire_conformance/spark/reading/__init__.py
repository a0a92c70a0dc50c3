"""Feeds as DataFrames: rows of files, storage prefixes and topics, decoded in Spark."""
