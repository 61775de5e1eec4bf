"""A real S3 server for tests: moto in a process of its own on loopback, ended by its process id."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from .servers import free_port

START_S = 60.0
_PLAIN = {"Content-Type": "application/octet-stream"}


@dataclass(frozen=True, slots=True)
class S3Server:
    """Where it is, and what a client's environment says of it (docs/archive.md)."""

    endpoint: str
    pid: int

    @property
    def environment(self) -> Mapping[str, str]:
        """As an operator would set it; the credentials are the ones that this server takes, which is any."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ACCESS_KEY_ID": "testing",
            "AWS_SECRET_ACCESS_KEY": "testing",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
        }

    def make_bucket(self, name: str) -> str:
        """A new bucket; its URL."""
        self._ask("PUT", name)
        return f"s3://{name}"

    def put(self, path: str, data: bytes) -> None:
        """An object as it is, past the archive."""
        self._ask("PUT", path, data)

    def _ask(self, method: str, path: str, data: bytes | None = None) -> bytes:
        request = urllib.request.Request(f"{self.endpoint}/{path}", data, _PLAIN, method=method)
        with urllib.request.urlopen(request, timeout=10) as answer:
            return bytes(answer.read())


@contextmanager
def s3_server() -> Iterator[S3Server]:
    """Serve until the end of the block. Everything is in that process's memory."""
    port = free_port()
    argv = [sys.executable, "-W", "ignore", "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(argv, stdout=quiet, stderr=quiet, env={**os.environ, "MOTO_S3_CUSTOM_ENDPOINTS": ""})
    try:
        server = S3Server(f"http://127.0.0.1:{port}", process.pid)
        _wait(server, process)
        yield server
    finally:
        process.terminate()
        process.wait(20)


def _wait(server: S3Server, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + START_S
    while True:
        try:
            with urllib.request.urlopen(f"{server.endpoint}/moto-api/", timeout=5):
                return
        except (urllib.error.URLError, OSError):
            if process.poll() is not None or time.monotonic() > until:
                raise
            time.sleep(0.1)
