"""The suite's facts about debezium-json."""
