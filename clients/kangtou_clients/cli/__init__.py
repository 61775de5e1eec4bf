"""The `kangtou` command. One module a group of commands, all of them listed in `app.GROUPS`."""

import os

# Children become other programs at once (`bot check`, `practice`, `tournament run`). With gRPC's own handlers around
# the fork a child was seen to abort before it did: "ev_epoll1_linux.cc Check failed: next_worker->state == KICKED".
# gRPC reads this once, when it is first used.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "false")

from .app import main

__all__ = ["main"]
