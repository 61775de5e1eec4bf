"""The containers of `deploy/` as processes of this machine: the same command lines and variables, on loopback.

What changes is where things are: addresses become 127.28.…, ports free ones, paths folders of the test, programs those
of this environment. A file that names a wrong command, option, setting or secret does not come up here either.
"""

from __future__ import annotations

import contextlib
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from kangtou_services.embedded import find_binary
from tests.deploy.files import DEPLOY, Doc, compose, dockerfile, of_kind
from tests.faults.server import IMPORTS, ROOT
from tests.servers import free_port

SECRETS = (
    "KANGTOU_REDIS_PASSWORD",
    "KANGTOU_LINK_SECRET",
    "KANGTOU_HOUSE_SECRET",
    "RAY_AUTH_TOKEN",
    "GRAFANA_PASSWORD",
)
START_S = 120.0
PORTS = "6379|7480|7482"


@dataclass(frozen=True, slots=True)
class Container:
    """What a file says of a container of ours: its address there, command line and variables, nothing changed yet."""

    name: str
    address: str
    argv: tuple[str, ...]
    variables: Mapping[str, str]
    checks: tuple[tuple[str, ...], ...] = ()  # health checks


def address_of(one: Container) -> str:
    """Where it is here."""
    return one.address.replace("172.28.", "127.28.")


def _image() -> tuple[list[str], list[str], dict[str, str]]:
    """Entrypoint, command and variables of the image."""
    last = {one.name: one for one in dockerfile() if one.stage == 1}
    pairs = (word.partition("=") for word in last["ENV"].words())
    return last["ENTRYPOINT"].words(), last["CMD"].words(), {name: value for name, _, value in pairs if name != "PATH"}


# ---- compose ----


def composed(secrets: Mapping[str, str]) -> list[Container]:
    """The services that are ours or Valkey, in the order in which they depend on one another."""
    entrypoint, command, variables = _image()

    def filled(text: str) -> str:
        text = re.sub(r"(?<!\$)\$\{([A-Z_]+)(:\?[^}]*)?\}", lambda found: secrets[found[1]], text)
        return text.replace("$$", "$")

    found: dict[str, Container] = {}
    services = compose()["services"]
    waiting = [name for name, one in services.items() if not one["image"].startswith(("prom/", "grafana/"))]
    while waiting:
        name = next(one for one in waiting if set(services[one].get("depends_on", ())) <= set(found))
        waiting.remove(name)
        one = services[name]
        ours = one["image"].startswith("kangtou:")
        argv = [*one.get("entrypoint", entrypoint if ours else []), *one.get("command", command)]
        given = {**(variables if ours else {}), **one.get("environment", {})}
        check = one.get("healthcheck", {}).get("test", [])
        found[name] = Container(
            name,
            one["networks"]["inside"]["ipv4_address"],
            tuple(map(filled, argv)),
            {key: filled(str(value)) for key, value in given.items()},
            (tuple(map(filled, check[1:])),) if check and check[0] == "CMD" else (),
        )
    return list(found.values())


# ---- Kubernetes ----


def pods(secrets: Mapping[str, str]) -> list[Container]:
    """A pod of every kind, container by container. Where KubeRay writes the command, it is written here as it does."""
    found: list[Container] = []
    cluster = of_kind("RayCluster")[0]["spec"]
    keys = {
        "redis-password": secrets["KANGTOU_REDIS_PASSWORD"],
        "link-secret": secrets["KANGTOU_LINK_SECRET"],
        "house-secret": secrets["KANGTOU_HOUSE_SECRET"],
        "auth_token": secrets["RAY_AUTH_TOKEN"],
        "archive-key": "key",
        "archive-secret": "secret",
    }

    def add(number: int, template: Doc, commands: Mapping[str, list[str]] | None = None) -> None:
        address = f"172.28.6.{number}"
        for one in template["spec"]["containers"]:
            found.append(_container(one, address, keys, (commands or {}).get(one["name"])))

    named = {doc["metadata"]["name"]: doc for kind in ("StatefulSet", "Deployment") for doc in of_kind(kind)}
    add(10, named["valkey"]["spec"]["template"])
    head, group = cluster["headGroupSpec"], cluster["workerGroupSpecs"][0]
    add(11, head["template"], {"ray-head": _ray_start(head, "--head", "--port=6379", "--no-monitor")})
    worker = _ray_start(group, "--address=kangtou-head-svc.kangtou.svc:6379")
    add(12, group["template"], {"ray-worker": worker})
    for number, name in enumerate(("gateway", "runner", "bots"), 13):
        add(number, named[name]["spec"]["template"])
    return found


def _ray_start(group: Doc, *more: str) -> list[str]:
    """As KubeRay builds it from rayStartParams; it takes `resources` out of their second quotes by a shell."""
    params = {name: value.strip("'") for name, value in group["rayStartParams"].items()}
    params = {name: value.strip('"').replace('\\"', '"') for name, value in params.items()}
    return ["ray", "start", "--block", *more, *(f"--{name}={value}" for name, value in params.items())]


def _container(one: Doc, address: str, keys: Mapping[str, str], command: list[str] | None) -> Container:
    entrypoint, default, variables = _image()
    ours = one["image"].startswith("kangtou:")
    given: dict[str, str] = dict(variables) if ours else {}
    configs = {doc["metadata"]["name"]: doc["data"] for doc in of_kind("ConfigMap")}
    for source in one.get("envFrom", ()):
        given |= configs[source["configMapRef"]["name"]]
    fields = {"status.podIP": address, "metadata.name": f"{one['name']}-{address.rpartition('.')[2]}"}

    def filled(text: str) -> str:
        return re.sub(r"\$\(([A-Za-z_]+)\)", lambda found: given[found[1]], text)

    for variable in one.get("env", ()):
        source = variable.get("valueFrom", {})
        if "secretKeyRef" in source:
            given[variable["name"]] = keys[source["secretKeyRef"]["key"]]
        elif "fieldRef" in source:
            given[variable["name"]] = fields[source["fieldRef"]["fieldPath"]]
        else:
            given[variable["name"]] = filled(variable["value"])
    if command is not None:  # what the operator adds for authOptions and gcsFaultToleranceOptions
        given |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": keys["auth_token"]}
        if "--head" in command:
            options = of_kind("RayCluster")[0]["spec"]["gcsFaultToleranceOptions"]
            given["RAY_REDIS_ADDRESS"] = options["redisAddress"]
            given["REDIS_PASSWORD"] = keys[options["redisPassword"]["valueFrom"]["secretKeyRef"]["key"]]
            given["RAY_external_storage_namespace"] = options["externalStorageNamespace"]
            command = [*command, f"--redis-password={given['REDIS_PASSWORD']}"]
    argv = command or [*one.get("command", entrypoint), *one.get("args", default)]
    return Container(one["name"], address, tuple(map(filled, argv)), given)


# ---- here ----


@dataclass(slots=True)
class Here:
    """Where things of the files are on this machine."""

    folder: Path
    hosts: Mapping[str, str]  # of service names
    ports: dict[tuple[str, str], int] = field(default_factory=dict)
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def port(self, address: str, there: str) -> int:
        """The free port that stands for one of the files at an address (of here)."""
        if (address, there) not in self.ports:
            self.ports[address, there] = free_port()
        return self.ports[address, there]

    def text(self, one: Container, text: str) -> str:
        """A word of a command line or a variable, as it is here."""
        if text.startswith("s3://"):
            return str(self.folder / "archive")
        if text == "/data":
            return str(self.folder / "valkey")
        for name, address in self.hosts.items():
            text = text.replace(name, address)
        own = address_of(one)
        text = text.replace("172.28.", "127.28.").replace("0.0.0.0", own).replace("127.0.0.1", own)
        text = re.sub(rf"([\d.]{{7,}})(:|', )({PORTS})\b", lambda it: f"{it[1]}{it[2]}{self.port(it[1], it[3])}", text)
        text = re.sub(rf"^(.*=)?({PORTS})$", lambda it: f"{it[1] or ''}{self.port(own, it[2])}", text)
        for there, here in (
            ("/etc/valkey/redis.conf", DEPLOY / "redis.conf"),
            ("/var/lib/kangtou-archive", self.folder / "archive"),
            ("/var/lib/kangtou", self.folder / one.name),
        ):
            text = text.replace(there, str(here))
        return text

    def command(self, one: Container, argv: tuple[str, ...]) -> list[str]:
        """The command line, with the programs of this environment."""
        words = [self.text(one, word) for word in argv]
        if words[:2] == ["ray", "start"]:  # a pod has all ports, an address and a /tmp of its own
            words += [f"--node-ip-address={address_of(one)}", f"--temp-dir={self.ray(one)}"]
            words += ["--min-worker-port=0", "--max-worker-port=0", "--dashboard-agent-listen-port=0"]
            words += [f"--ray-client-server-port={free_port()}"] if "--head" in words else []
        programs = {
            "python": [sys.executable],
            "kangtou": [sys.executable, "-m", "kangtou_clients"],
            "ray": [sys.executable, "-m", "ray.scripts.scripts"],
            "valkey-server": [str(find_binary())],
        }
        return [*programs[words[0]], *words[1:]]

    def ray(self, one: Container) -> Path:
        """A short folder for Ray's sockets."""
        return self.folder / f"r{one.address.rpartition('.')[2]}"

    def variables(self, one: Container) -> dict[str, str]:
        """The container's, over what a process needs here."""
        given = {name: self.text(one, value) for name, value in one.variables.items() if not name.startswith("AWS_")}
        if "KANGTOU_METRICS_PORT" in given:
            given["KANGTOU_METRICS_PORT"] = "0"  # several share this machine
        if "KANGTOU_PORT" in given:  # of the gateways, wherever it is said
            given["KANGTOU_PORT"] = str(self.port(given["KANGTOU_HOST"], one.variables["KANGTOU_PORT"]))
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("KANGTOU_", "RAY_"))}
        ours = {"PYTHONPATH": IMPORTS, "RAY_TMPDIR": str(self.folder), "KANGTOU_CONFIG": str(self.folder / "config")}
        return {**kept, **given, **ours}

    def start(self, one: Container) -> None:
        """Start it; its output goes to a file of its name."""
        (self.folder / one.name).mkdir(mode=0o700, exist_ok=True)
        with (self.folder / f"{one.name}.out").open("wb") as out:
            self.running[one.name] = subprocess.Popen(
                self.command(one, one.argv),
                env=self.variables(one),
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def run(self, one: Container, argv: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
        """A command in that container."""
        return subprocess.run(
            self.command(one, argv),
            env=self.variables(one),
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )

    def until(self, holds: Callable[[], object], what: str) -> None:
        """Wait for something. Raises AssertionError with the last words of all if one ends or it takes too long."""
        until = time.monotonic() + START_S
        while not holds():
            ended = [name for name, process in self.running.items() if process.poll() is not None]
            if ended or time.monotonic() > until:
                raise AssertionError(f"{what}: {ended or 'too late'}\n{self.words()}")
            time.sleep(0.3)

    def words(self) -> str:
        """The last of what all have said."""
        files = sorted(self.folder.glob("*.out"))
        return "\n".join(f"== {path.stem}\n{path.read_text(errors='replace')[-1500:]}" for path in files)


@contextmanager
def here(folder: Path, hosts: Mapping[str, str]) -> Iterator[Here]:
    """A place for containers; all that was started in it ends with it."""
    place = Here(folder, hosts)
    for name in ("archive", "valkey"):
        (folder / name).mkdir(mode=0o700)
    try:
        yield place
    finally:
        family: list[psutil.Process] = []
        for process in reversed(place.running.values()):
            with contextlib.suppress(psutil.NoSuchProcess):
                family += psutil.Process(process.pid).children(recursive=True)
            process.terminate()
        for process in place.running.values():
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(20)
        for process in place.running.values():
            process.kill()
            process.wait(10)
        for one in family:
            with contextlib.suppress(psutil.NoSuchProcess):
                one.kill()


def secrets_of(names: tuple[str, ...] = SECRETS) -> dict[str, str]:
    """As an operator would make them."""
    return {name: os.urandom(16).hex() for name in names}


def listens(address: str, port: int) -> bool:
    """Whether something does."""
    with contextlib.suppress(OSError), socket.create_connection((address, port), 0.5):
        return True
    return False
