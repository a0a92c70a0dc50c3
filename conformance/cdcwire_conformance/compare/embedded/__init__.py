"""The engine that compares in this process, without Spark and Java."""
