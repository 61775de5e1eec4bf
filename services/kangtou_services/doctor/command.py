"""`python -m kangtou_services doctor`: a JSON line a finding. Exit code 1 if anything is wrong.

Settings that cannot be read are a finding too, so this process reads them itself.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from dataclasses import asdict

from pydantic import ValidationError

from .. import logs
from ..settings import Settings
from . import machine, others
from .database import database
from .finding import Finding, State, ok, wrong


async def findings() -> AsyncIterator[Finding]:
    """Everything, one check after another; what does not depend on the settings comes first."""
    for finding in (*machine.python(), *machine.packages(machine.lock_file()), *machine.files()):
        yield finding
    try:
        settings = Settings()
    except ValidationError as error:
        for problem in error.errors():
            name = f"KANGTOU_{'.'.join(map(str, problem['loc'])).upper()}"
            yield wrong("settings", "setting_bad", setting=name, problem=problem["msg"])
        return
    yield ok("settings")
    running = machine.runs_here(settings)
    for finding in (
        *machine.folder(settings),
        *machine.secrets(settings),
        *machine.port(settings, running=running),
        *others.archive(settings),
        *others.ray(settings),
    ):
        yield finding
    async for finding in database(settings, running=running):
        yield finding
    async for finding in others.sandbox(settings, running=running):
        yield finding


async def _tell() -> int:
    code = 0
    async for finding in findings():
        sys.stdout.write(json.dumps(asdict(finding)) + "\n")
        sys.stdout.flush()
        if finding.state is State.WRONG:
            code = 1
    return code


def main() -> int:
    """Look at everything."""
    logs.configure("error", "doctor")  # to the error stream: the output is for findings
    return asyncio.run(_tell())
