"""Benchmarks: ratios of routes that do the same work, in one process.

Each is a module to be run from the project's folder (``python -m benchmarks.decode``), and prints a
Markdown table with the bar beside each result. They are no tests: a busy machine must not fail one.
"""
