"""Debezium's envelope, whatever its bytes are: changes, sources by connector, events both ways.

Connect's structs come in, and go out; a format reads and writes their bytes.
"""
