"""Go's ways of writing numbers and strings, as its standard library does for TiCDC.

The bytes must not depend on the Python version, so what Python's own functions do differently on
its releases (which code points are printable) is kept here as a frozen table.
"""
