"""Rows as a few numbers: enough to find the changes of two feeds that are surely equal."""
