"""Results for people and machines: text, JSON, JUnit and Markdown, all from one ``Results``."""
