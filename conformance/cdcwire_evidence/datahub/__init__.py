"""What verifies DataHub messages beside the codecs: schemas of ops, and the statement object."""
