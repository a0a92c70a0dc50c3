"""The site of results: stored runs of readers, and the pages, badges and feed made from them.

``stored`` reads and writes the files of runs. ``history`` arranges them by format, reader and
version. ``site`` writes all pages, ``case_pages`` those of the cases; ``feed`` and ``badges`` write
the files for other programs. Nothing is read except the folder of runs and the golden corpus.
"""
