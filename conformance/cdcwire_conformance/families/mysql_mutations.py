"""What the rules of formats with MySQL's type codes share."""

# The type that is always NULL, a code that is not defined, a number that is not a byte.
UNDEFINED_TYPES = (6, 31, 256)
