"""The formats, one package each. ``cdcwire.core.registry`` lists them."""
