"""A real Debezium on a real PostgreSQL, and what its messages have to say.

``postgres`` starts a server of its own, ``engine`` runs Debezium on it, ``columns`` has the columns
and values that are put in, ``expected`` says what a column is in a message: worked out from
PostgreSQL's own text of it, never from the codec.
"""
