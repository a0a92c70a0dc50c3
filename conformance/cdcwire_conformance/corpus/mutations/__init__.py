"""Rules that derive malformed messages from legal ones; each format's suite has its own.

Every reading of the format's page rejects the bytes that a rule makes, unless the rule says that
they may be legal by chance (``is_certain``). Such bytes are decoded before they become a case.
"""
