"""Every command line of compose.yaml and of the manifests, started without containers; whole matches are played."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kangtou_services.supervisor import lock_folder
from tests.conftest import Counts
from tests.deploy.files import DEPLOY
from tests.deploy.processes import Container, Here, address_of, composed, here, listens, pods, secrets_of

pytestmark = [pytest.mark.slow, pytest.mark.ray, pytest.mark.timeout(400)]

# Names of services, which the cluster's DNS would resolve.
HOSTS = {
    "valkey.kangtou.svc": "172.28.6.10",
    "kangtou-head-svc.kangtou.svc": "172.28.6.11",
    "gateway.kangtou.svc": "172.28.6.13",
}


@pytest.fixture
def folder() -> Iterator[Path]:
    """A short one: it holds unix sockets."""
    path = Path(tempfile.mkdtemp(prefix="kt-"))
    yield path
    shutil.rmtree(path, ignore_errors=True)


def ready(place: Here, one: Container) -> None:
    """Wait as the files' own checks would."""
    if one.argv[0] == "valkey-server" or "--head" in one.argv:
        place.until(lambda: listens(address_of(one), place.port(address_of(one), "6379")), one.name)
    if one.name == "gateway":  # its own check costs a second of processor time each
        place.until(lambda: listens(address_of(one), place.port(address_of(one), "7480")), one.name)
    for check in one.checks:
        place.until(lambda check=check: place.run(one, check).returncode == 0, f"health of {one.name}")  # type: ignore[misc]


def served(place: Here, one: Container) -> None:
    """The gateway's readiness: log, persistence, a table actor. Not asked before it can be there: asking costs time."""
    for name in place.running:
        if name.startswith("pool"):
            said = place.folder / f"{name}.out"
            place.until(lambda said=said: "ready" in said.read_text().splitlines(), name)  # type: ignore[misc]
    ready(place, one)
    check = ("kangtou", "health", "--server", f"{one.address}:7480")
    place.until(lambda: place.run(one, check).returncode == 0, "readiness")


def played(place: Here, one: Container) -> dict[str, Any]:
    """Matches of all games through the gateway, to their end and into the archive."""
    load = ("kangtou", "--json", "load", "--server", f"{one.address}:7480", "--tables", "4", "--think", "0")
    done = place.run(one, (*load, "--ramp", "0.5", "--seconds", "1", "--watchers", "1"))
    assert done.returncode == 0, done.stdout[-500:] + done.stderr[-1500:] + place.words()
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    assert not found["refused"]
    assert found["delivered_per_s"] > 0
    place.until(lambda: len(list((place.folder / "archive").rglob("*.ktr.zst"))) >= 4, "records")
    return found


def test_compose(folder: Path) -> None:
    containers = composed(secrets_of())
    assert [one.name for one in containers][:3] == ["valkey", "head", "pool-a"]
    with here(folder, {}) as place:
        for one in containers:
            place.start(one)
            if one.name != "gateway":
                ready(place, one)
        (gateway,) = (one for one in containers if one.name == "gateway")
        served(place, gateway)
        found = played(place, gateway)
        with_bots = ("kangtou", "--json", "status", "--server", f"{gateway.address}:7480")
        status = json.loads(place.run(gateway, with_bots).stdout)
        assert {one["node"] for one in status["actors"]} == {"a", "b"}
        assert all(process.poll() is None for process in place.running.values()), place.words()
    print(f"compose: {len(containers)} containers, {found['moves']} moves, {found['matches_finished']} matches")


def test_kubernetes(folder: Path) -> None:
    containers = pods(secrets_of())
    with here(folder, HOSTS) as place:
        for one in containers:
            place.start(one)
            (served if one.name == "gateway" else ready)(place, one)
        (gateway,) = (one for one in containers if one.name == "gateway")
        found = played(place, gateway)
        place.until(lambda: "nodes_asked" in (folder / "scaler.out").read_text(), "the autoscaler is asked")
        assert all(process.poll() is None for process in place.running.values()), place.words()
    print(f"kubernetes: {len(containers)} containers, {found['moves']} moves, {found['matches_finished']} matches")


def test_unit(folder: Path, counts: Counts) -> None:
    """The unit's command, as systemd runs and stops it; briefly, that a folder in use is told by the code it knows."""
    (service,) = re.findall(r"^ExecStart=(.*)$", (DEPLOY / "systemd" / "kangtou.service").read_text(), re.MULTILINE)
    words = service.replace("/opt/kangtou/bin/kangtou", "kangtou").split()
    one = Container("unit", "172.28.7.10", tuple(words), {"KANGTOU_ACTORS": "1", "KANGTOU_HOUSE_BOTS": "1"})
    with here(folder, {}) as place:
        with lock_folder(folder / "unit"):
            assert place.run(one, one.argv).returncode == 3
        if not counts(0, 1):
            return
        place.start(one)
        place.until(lambda: "ready " in (folder / "unit.out").read_text(), "ready")
        check = place.run(one, ("kangtou", "health", "--server", "127.0.0.1:7480"))
        assert check.stdout == "SERVING\n", check.stderr
        place.running["unit"].terminate()
        assert place.running["unit"].wait(60) == 0
