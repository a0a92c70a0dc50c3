"""The harness: the corpus, the runner that judges decoders by it, and the command line."""
