"""Client library, command line and bots: everything that talks to a server."""
