"""The parts that every codec uses: errors, readers, messages, options, rows and the registry."""
