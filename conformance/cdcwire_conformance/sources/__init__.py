"""Where feeds come from: files, storage prefixes and topics."""
