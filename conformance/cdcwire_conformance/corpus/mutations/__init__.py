"""Rules that derive malformed messages from legal ones; each format's suite has its own.

A rule only makes bytes that every reading of the format's page rejects, or says that the result may
be legal by chance (``is_certain``): such bytes are decoded before they become a case.
"""
