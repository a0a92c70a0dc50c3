"""The suite's facts about avro."""
