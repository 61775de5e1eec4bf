"""`python -m kangtou_services PROCESS`: one process of a server, set up by KANGTOU_… variables (settings.py)."""

from __future__ import annotations

import importlib
import sys

from pydantic import ValidationError

from . import joining
from .archive.store import ArchiveMissing, RecordStore
from .settings import Settings

# Each is `module:function`, loaded when asked for; a function takes the settings and gives an exit code.
PROCESSES = {
    "up": "up:main",
    "redis": "up:main_redis",
    "head": "ray_node:become_head",
    "pool": "actors:run_pool",
    "gateway": "gateway.server:main",
    "runner": "tournament.runner:main",
    "scaler": "scaling:main",
    "tournament-report": "tournament.reporting:main",
    "tournament-check": "tournament.reporting:main_check",
    "ratings": "ratings.rebuild:main",
    "practice": "practice:main",
    "archive-dump": "archive.bulk:dump",
    "archive-import": "archive.bulk:load",
    "archive-rebuild": "archive.command:main",
    "appoint": "accounts.appoint:main",
    "backup": "backup.command:main_backup",
    "restore": "backup.command:main_restore",
}

ON_ARCHIVE = ("up", "pool", "gateway")  # they do not start on an archive that cannot work


def main() -> int:
    """Run the process that the first argument names."""
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if name not in (*PROCESSES, "doctor"):
        sys.stderr.write(f"usage: python -m kangtou_services {{{'|'.join((*PROCESSES, 'doctor'))}}}\n")
        return 2
    if name == "doctor":  # settings that cannot be read are for it to name
        return int(importlib.import_module(".doctor.command", __package__).main())
    try:
        settings = Settings()
    except ValidationError as error:
        for problem in error.errors():
            sys.stderr.write(f"kangtou: setting {'.'.join(map(str, problem['loc']))}: {problem['msg']}\n")
        return 2
    try:
        settings = joining.joined(settings)
    except joining.JoinError as error:
        sys.stderr.write(f"kangtou: {error}\n")
        return 2
    if name in ON_ARCHIVE:
        try:
            RecordStore(settings.archive).check()
        except ArchiveMissing as error:
            sys.stderr.write(f"kangtou: {error}\n")
            return 2
        except OSError as error:  # it may come back: matches do not wait for it
            sys.stderr.write(f"kangtou: warning: {error}\n")
    module, _, function = PROCESSES[name].partition(":")
    found = getattr(importlib.import_module(f".{module}", __package__), function)
    return int(found(settings))


if __name__ == "__main__":
    sys.exit(main())
