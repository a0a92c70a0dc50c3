"""Skeletons for contributors: a golden case from bytes, the files of a format."""
