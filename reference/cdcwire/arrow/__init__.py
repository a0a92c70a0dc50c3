"""Rows of one table as Arrow record batches, in one schema for each table."""
