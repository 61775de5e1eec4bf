"""Gateway, tables, log, matchmaking and archive: everything that a server runs."""

import os

# gRPC would stop and start its threads around every fork; in a child that is about to become another program they can
# crash it. Read when gRPC is loaded.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
