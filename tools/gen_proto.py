"""Generate the Python modules and stubs of proto/kangtou/**/*.proto.

They stand beside their .proto files and are committed. `--out FOLDER` writes them elsewhere, which is how a test
compares them with the committed ones; the output depends on the .proto files and the pinned tools alone.

The stubs of the services are for `grpc.aio`, the only flavour used here. A servicer's methods take
`grpc.aio.ServicerContext[Any, Any]`.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from grpc_tools import _protoc_compiler, protoc

ROOT = Path(__file__).resolve().parents[1]
PROTO = ROOT / "proto"
# One suffix per plugin output, in the order of the plugins in `generate`.
SUFFIXES = ("_pb2.py", "_pb2_grpc.py", "_pb2.pyi", "_pb2_grpc.pyi")


def sources() -> list[Path]:
    """Every .proto file, sorted, relative to the proto root."""
    return sorted(path.relative_to(PROTO) for path in (PROTO / "kangtou").rglob("*.proto"))


def generate(out: Path) -> int:
    """Run protoc over all sources into `out`; its exit code."""
    # The mypy-protobuf plugins lie beside this interpreter, whether or not its environment is activated.
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    arguments = [
        "protoc",
        f"--proto_path={PROTO}",
        f"--proto_path={Path(protoc.__file__).parent / '_proto'}",
        f"--python_out={out}",
        f"--grpc_python_out={out}",
        f"--mypy_out=quiet:{out}",
        f"--mypy_grpc_out=quiet,only_async:{out}",
        *map(str, sources()),
    ]
    return int(_protoc_compiler.run_main([argument.encode() for argument in arguments]))


def prune(out: Path) -> None:
    """Remove generated files whose .proto file is gone, and service modules of files without a service."""
    for old in out.glob("kangtou/**/*_pb2*.py*"):
        stem = old.name.split("_pb2")[0]
        source = PROTO / old.parent.relative_to(out) / f"{stem}.proto"
        empty = "_pb2_grpc" in old.name and source.exists() and "\nservice " not in source.read_text()
        if not source.exists() or empty:
            old.unlink()


def main() -> int:
    """Generate, then prune."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=PROTO, help="where to write (default: beside the sources)")
    out = parser.parse_args().out
    if not sources():
        print("no .proto file below proto/kangtou", file=sys.stderr)
        return 1
    out.mkdir(parents=True, exist_ok=True)
    if code := generate(out):
        return code
    prune(out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
