"""Exit codes of the `kangtou` command, and the error that ends it with one.

0  done                                    5  refused by the server or by a rule
1  looked at and not in order              6  the server cannot be reached, or cannot do it now
   (a case failed, a record is wrong)      7  not signed in, or not allowed
2  the command line or a file is wrong     8  there is no such match, table, rule or file
3  the data folder is in use (`up`)      130  ended by Ctrl-C
4  gave up (`up`)
"""

from __future__ import annotations

OK, FAILED, USAGE, IN_USE, GAVE_UP, REFUSED, UNREACHABLE, NOT_ALLOWED, NOT_FOUND = range(9)
INTERRUPTED = 130


class CommandError(Exception):
    """Ends the command: what to say (on the error stream) and the exit code."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(code, text)
        self.code = code
        self.text = text
