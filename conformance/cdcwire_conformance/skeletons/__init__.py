"""Skeletons for contributors: a golden case from bytes."""
