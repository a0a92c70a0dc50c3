"""The comparison of two feeds: change by change, by the last row of each key, in windows."""
