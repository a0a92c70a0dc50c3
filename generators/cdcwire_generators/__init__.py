"""Random tables, rows, change streams and damaged bytes; and seeded workloads of any size.

``workloads`` needs the standard library only and is made for speed: one seed, one stream. The
``strategies`` are for property tests and need Hypothesis (``pip install cdcwire[generators]``).
``families`` lists the column types of a source database, and ``domain`` the values that a format
can carry. ``expected`` gives the events that come back when a format encodes and decodes them.
``formats`` has what is special to one format.
"""
