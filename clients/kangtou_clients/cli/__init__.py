"""The `kangtou` command. One module a group of commands, all of them listed in `app.GROUPS`."""

from .app import main

__all__ = ["main"]
