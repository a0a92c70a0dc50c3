"""One workload on a real MariaDB, captured by Debezium's connectors and by Maxwell.

``workload`` has the statements, ``captures`` the engines and their settings, ``recording`` runs
them. ``expected`` says what a column is in a message: worked out from MariaDB's own text of it,
never from a codec. ``losses`` names what a producer does not say.
"""
