"""The comparison of two topics while they grow."""
