"""The runner: which cases a testee is asked, and the results."""
