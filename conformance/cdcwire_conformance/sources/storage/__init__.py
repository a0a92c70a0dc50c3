"""A storage prefix as a whole: listed, read in the order of replay, written, and checked.

The layout's rules are ``cdcwire.storage``, which does no input or output; this package does it,
over directories and any store that fsspec knows.
"""
