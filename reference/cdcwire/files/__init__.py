"""Messages in files, directories and object stores, and the prefixes of storage sinks.

The codecs take bytes. This package reads and writes them.
"""
