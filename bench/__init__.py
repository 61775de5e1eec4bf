"""Benchmarks: `python -m bench` (`make bench`)."""

import os

os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "false")  # see clients/kangtou_clients/cli/__init__.py
