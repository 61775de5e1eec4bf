"""The files of `deploy/`, read."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import kubernetes_validate
import yaml
from jsonschema import Draft202012Validator
from jsonschema.validators import validator_for

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
KUBERNETES = DEPLOY / "kubernetes"
SCHEMAS = Path(__file__).parent / "schemas"
KUBERNETES_VERSION = "1.34"

Doc = dict[str, Any]


def compose() -> Doc:
    """compose.yaml, its anchors resolved and its variables not."""
    return dict(yaml.safe_load((DEPLOY / "compose.yaml").read_text()))


@cache
def manifests() -> tuple[Doc, ...]:
    """Everything that kubectl would apply, secrets included. Not to be changed."""
    files = sorted(path for path in KUBERNETES.glob("*.yaml") if path.name != "kustomization.yaml")
    return tuple(doc for path in files for doc in yaml.safe_load_all(path.read_text()))


def of_kind(kind: str) -> list[Doc]:
    """The manifests of one kind."""
    return [doc for doc in manifests() if doc["kind"] == kind]


def templates() -> Iterator[tuple[str, Doc]]:
    """Every pod template, with a name for it."""
    for doc in manifests():
        name = f"{doc['kind']}/{doc['metadata']['name']}"
        if doc["kind"] in ("Deployment", "StatefulSet"):
            yield name, doc["spec"]["template"]
        elif doc["kind"] == "RayCluster":
            yield f"{name}/head", doc["spec"]["headGroupSpec"]["template"]
            for group in doc["spec"]["workerGroupSpecs"]:
                yield f"{name}/{group['groupName']}", group["template"]


def problems(value: Doc, schema: str) -> list[str]:
    """What a schema of ours has against a document."""
    given = json.loads((SCHEMAS / schema).read_text())
    checks = validator_for(given, default=Draft202012Validator)(given)
    return [f"{error.json_path}: {error.message}" for error in checks.iter_errors(value)]


def check_manifest(doc: Doc) -> None:
    """Raises kubernetes_validate.ValidationError, or AssertionError for a RayCluster."""
    if doc["kind"] != "RayCluster":
        kubernetes_validate.validate(doc, KUBERNETES_VERSION, strict=True)
        return
    assert not problems(doc, "raycluster.json")
    groups = [doc["spec"]["headGroupSpec"], *doc["spec"]["workerGroupSpecs"]]
    for group in groups:
        template = {"apiVersion": "v1", "kind": "PodTemplate", "metadata": {"name": "x"}, "template": group["template"]}
        kubernetes_validate.validate(template, KUBERNETES_VERSION, strict=True)


@dataclass(frozen=True, slots=True)
class Instruction:
    """One of a Dockerfile; `stage` counts from 0."""

    name: str
    text: str
    stage: int

    def words(self) -> list[str]:
        """Exec form as its list, else split like a shell."""
        text = self.text
        if "[" in text and text.endswith("]"):
            return [str(word) for word in json.loads(text[text.index("[") :])]
        return shlex.split(text)


def dockerfile() -> list[Instruction]:
    """The instructions; comments and continued lines are gone."""
    text = re.sub(r"^\s*#.*\n", "", (DEPLOY / "Dockerfile").read_text(), flags=re.MULTILINE)
    found: list[Instruction] = []
    stage = -1
    for line in re.sub(r"\\\n\s*", " ", text).splitlines():
        if not line.strip():
            continue
        name, _, rest = line.strip().partition(" ")
        stage += name == "FROM"
        found.append(Instruction(name, rest.strip(), stage))
    return found
