"""Runs the readers of a list, each release in its own environment, and stores the results.

``listed`` reads the list, ``releases`` asks registries for versions, ``prepared`` installs one
release with its adapter, ``judged`` runs ``cdcwire verify`` on it. A reader that fails at any of
these steps is stored with its problem, and the next one is run.
"""
