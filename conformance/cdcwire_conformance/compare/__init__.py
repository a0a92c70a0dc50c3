"""The comparison of two feeds, whatever engine compares the rows: rules, result and reports."""
