"""Feeds to Arrow batches: survey, opening, decoding in this process or by workers."""
