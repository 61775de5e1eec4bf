"""Everything in `deploy/` against its schemas, and against the rules of this project."""

from __future__ import annotations

import configparser
import copy
import re
import tomllib
from fnmatch import fnmatch
from typing import Any

import kubernetes_validate
import pytest
import yaml

from kangtou_services.__main__ import PROCESSES
from kangtou_services.settings import Settings
from tests.deploy.files import (
    DEPLOY,
    KUBERNETES,
    ROOT,
    check_manifest,
    compose,
    dockerfile,
    manifests,
    of_kind,
    problems,
    templates,
)

VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
SETTINGS = {f"KANGTOU_{name.upper()}" for name in Settings.model_fields}
IMAGE = re.compile(r"[a-z0-9-]+(/[a-z0-9-]+)?:[A-Za-z0-9._-]+")
NAMES = [f"{doc['kind']}/{doc['metadata']['name']}" for doc in manifests()]


# ---- compose ----


def test_compose_is_as_its_schema_says() -> None:
    assert not problems(compose(), "compose-spec.json")


@pytest.mark.parametrize(
    "mistake",
    [
        {"comand": ["gateway"]},
        {"healthcheck": {"intervall": "5s"}},
        {"ports": {"7480": 7480}},
        {"volumes": "data"},
        {"depends_on": {"valkey": {"condition": "healthy"}}},
    ],
)
def test_compose_schema_finds_mistakes(mistake: dict[str, Any]) -> None:
    wrong = copy.deepcopy(compose())
    wrong["services"]["gateway"] |= mistake
    assert problems(wrong, "compose-spec.json")


def test_compose_names_what_there_is() -> None:
    given = compose()
    for name, service in given["services"].items():
        assert IMAGE.fullmatch(service["image"]), name
        assert set(service["networks"]) <= set(given["networks"]), name
        assert set(service.get("depends_on", {})) <= set(given["services"]), name
        for volume in service.get("volumes", ()):
            source = volume.split(":")[0]
            assert source in given["volumes"] or (source.startswith("./")), f"{name}: {volume}"
            if source.startswith("./"):
                assert volume.endswith(":ro"), f"{name}: {volume}"
        for port in service.get("ports", ()):
            assert port.startswith("127.0.0.1:"), f"{name} faces the network: {port}"
    addresses = [one["networks"]["inside"]["ipv4_address"] for one in given["services"].values()]
    assert len(set(addresses)) == len(addresses)


def test_compose_asks_for_secrets_that_the_example_has() -> None:
    asked = set(re.findall(r"\$\{([A-Z_]+):\?", (DEPLOY / "compose.yaml").read_text()))
    lines = (DEPLOY / "compose.env.example").read_text().splitlines()
    given = dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))
    assert given.pop("COMPOSE_PROJECT_NAME") == "kangtou"
    assert asked == set(given)
    assert not any(given.values())  # nobody's secret is in it


# ---- Kubernetes ----


@pytest.mark.parametrize("doc", manifests(), ids=NAMES)
def test_manifest_is_as_its_schema_says(doc: dict[str, Any]) -> None:
    check_manifest(doc)


def test_manifest_schemas_find_mistakes() -> None:
    (gateway,) = (doc for doc in of_kind("Deployment") if doc["metadata"]["name"] == "gateway")
    for place, mistake in (("replicas", "two"), ("replica", 2), ("selector", "gateway")):
        wrong = copy.deepcopy(gateway)
        wrong["spec"][place] = mistake
        with pytest.raises(kubernetes_validate.ValidationError):
            check_manifest(wrong)
    (cluster,) = of_kind("RayCluster")
    for place, value in (("enableInTreeAutoscalling", True), ("rayVersion", 2.6), ("workerGroupSpecs", {})):
        wrong = copy.deepcopy(cluster)
        wrong["spec"][place] = value
        with pytest.raises(AssertionError):
            check_manifest(wrong)
    wrong = copy.deepcopy(cluster)
    wrong["spec"]["workerGroupSpecs"][0]["template"]["spec"]["containers"][0]["imag"] = "x"
    with pytest.raises(kubernetes_validate.ValidationError):
        check_manifest(wrong)


def test_kustomization_has_every_file_but_the_secrets() -> None:
    given = yaml.safe_load((KUBERNETES / "kustomization.yaml").read_text())
    there = {path.name for path in KUBERNETES.glob("*.yaml")} - {"kustomization.yaml", "secrets.example.yaml"}
    assert set(given["resources"]) == there
    assert given["images"] == [{"name": "kangtou", "newTag": VERSION}]


def test_manifests_refer_to_what_there_is() -> None:
    (secret,) = of_kind("Secret")
    configs = {doc["metadata"]["name"]: doc for doc in of_kind("ConfigMap")}
    labels = [template["metadata"]["labels"] for _, template in templates()]
    assert all(value == "FILL-IN" for value in secret["stringData"].values())
    for doc in manifests():
        for found in _all(doc, "secretKeyRef"):
            assert found["name"] == secret["metadata"]["name"]
            assert found["key"] in secret["stringData"]
        for kind in ("configMapRef", "configMap"):
            for found in _all(doc, kind):
                assert found["name"] in configs
        for selector in (*_all(doc, "matchLabels"), *([doc["spec"]["selector"]] if doc["kind"] == "Service" else [])):
            if "kubernetes.io/metadata.name" not in selector:
                assert any(selector.items() <= one.items() for one in labels), selector
        for expression in (one for found in _all(doc, "matchExpressions") for one in found):
            assert set(expression["values"]) <= {one[expression["key"]] for one in labels}
    (scaler,) = of_kind("HorizontalPodAutoscaler")
    target = scaler["spec"]["scaleTargetRef"]
    assert target["name"] in {doc["metadata"]["name"] for doc in of_kind(target["kind"])}


def test_redis_conf_is_the_one_that_up_uses() -> None:
    (valkey,) = (doc for doc in of_kind("ConfigMap") if doc["metadata"]["name"] == "valkey")
    assert valkey["data"]["redis.conf"] == (DEPLOY / "redis.conf").read_text()


@pytest.mark.parametrize(("name", "template"), list(templates()))
def test_pods_have_no_rights_to_spare(name: str, template: dict[str, Any]) -> None:
    spec = template["spec"]
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["runAsUser"] > 0
    assert "/head" in name or spec["automountServiceAccountToken"] is False  # KubeRay's autoscaler needs it in the head
    for container in spec["containers"]:
        assert IMAGE.fullmatch(container["image"]), container["image"]
        assert not container["image"].startswith("kangtou:") or container["image"] == f"kangtou:{VERSION}"
        assert set(container["resources"]["requests"]) == {"cpu", "memory"}
        assert "memory" in container["resources"]["limits"]
        if not name.startswith("RayCluster"):
            assert container["securityContext"]["readOnlyRootFilesystem"] is True
            assert container["securityContext"]["allowPrivilegeEscalation"] is False


def test_ray_is_the_one_of_the_lock() -> None:
    (cluster,) = of_kind("RayCluster")
    locked = re.search(r"^ray==([\d.]+)", (ROOT / "requirements.lock").read_text(), re.MULTILINE)
    assert locked is not None
    assert cluster["spec"]["rayVersion"] == locked[1]


# ---- the image and the unit ----


def test_dockerfile_keeps_the_rules() -> None:
    steps = dockerfile()
    stages = [one for one in steps if one.name == "FROM"]
    assert len(stages) == 2
    assert all(IMAGE.fullmatch(one.words()[0]) for one in stages)
    last = [one for one in steps if one.stage == 1]
    by_name = {one.name: one for one in last}
    assert by_name["USER"].text.split(":")[0].isdigit()
    assert by_name["USER"].text.split(":")[0] != "0"
    assert (
        not [  # nothing is fetched into the image itself
            one for one in last if one.name == "RUN" and "pip" in one.text
        ]
    )
    assert next(one for one in last if one.name == "COPY").words()[0] == "--from=build"
    assert not [one for one in steps if one.name == "ADD"]
    assert by_name["ENTRYPOINT"].words() == ["python", "-m", "kangtou_services"]
    assert by_name["CMD"].words()[0] in PROCESSES
    assert by_name["HEALTHCHECK"].words()[:2] == ["kangtou", "health"]
    installs = [part for one in steps if one.name == "RUN" for part in one.text.split("&&") if "pip install" in part]
    assert all("--require-hashes" in part or "--no-deps dist/" in part for part in installs), installs


def test_dockerfile_copies_what_the_context_has() -> None:
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    kept = [line.removeprefix("!") for line in lines if line.startswith("!")]
    for one in dockerfile():
        if one.name == "COPY" and not one.text.startswith("--from"):
            for source in one.words()[:-1]:
                assert (ROOT / source).exists(), source
                assert any(fnmatch(source, pattern) or source.startswith(f"{pattern}/") for pattern in kept), source


def test_unit_starts_up_and_drains() -> None:
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read(DEPLOY / "systemd" / "kangtou.service")
    service = unit["Service"]
    assert service["ExecStart"].startswith("/opt/kangtou/bin/kangtou up ")
    assert service["RestartPreventExitStatus"] == "3"
    assert service["User"] != "root"


@pytest.mark.parametrize("path", sorted(DEPLOY.rglob("*.*")), ids=lambda path: path.name)
def test_settings_by_their_names(path: Any) -> None:
    """A setting that does not exist would be ignored without a word."""
    if path.is_file():
        named = set(re.findall(r"\bKANGTOU_[A-Z][A-Z0-9_]*\b", path.read_text()))
        assert named <= SETTINGS | {"KANGTOU_REDIS_PASSWORD"}, named - SETTINGS


def _all(value: Any, key: str) -> list[Any]:
    """Every value under a key, at any depth."""
    if isinstance(value, dict):
        here = [value[key]] if key in value else []
        return here + [found for one in value.values() for found in _all(one, key)]
    return [found for one in value for found in _all(one, key)] if isinstance(value, list) else []
