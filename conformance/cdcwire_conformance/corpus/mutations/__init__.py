"""Rules that derive malformed messages from legal ones; each format's suite has its own.

A rule usually makes bytes that every reading of the format's page rejects. Otherwise it says that
the result may be legal by chance (``is_certain``): such bytes are decoded before they become a
case.
"""
