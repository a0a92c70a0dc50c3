"""The fuzzer: changed golden inputs through every codec, and the laws that must hold for each.

    python -m cdcwire_evidence.fuzz --minutes 5

An input is named by one line: a case and the numbers of the changes that were made to it one after
the other, ``craft/rows/insert#17.4``. The name is enough to make the input again.
"""
