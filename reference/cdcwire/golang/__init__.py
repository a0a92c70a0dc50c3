"""Go's ways of writing numbers and strings, as its standard library does for TiCDC.

The bytes must not depend on the Python version. Python's own functions differ between releases in
which code points are printable, so that is kept here as a frozen table.
"""
