"""Gateway, tables, log, matchmaking and archive: everything that a server runs."""
