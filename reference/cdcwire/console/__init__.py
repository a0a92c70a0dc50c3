"""Text for people and from people: safe for terminals, problems in words, arguments."""
