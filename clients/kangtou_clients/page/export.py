"""The page: template, style, script and data in one text, under a policy that allows no request at all."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Sequence
from functools import cache
from importlib import resources

from kangtou_engine.replay import Replay, Who

from .data import Done, Json, page_data
from .frames import LANGUAGES

SCRIPTS = ("steps.js", "cards.js", "table.js", "beside.js", "controls.js")
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src '{hash}'; base-uri 'none'; form-action 'none'"


def write_page(replay: Replay, who: Who, names: Sequence[str], lang: str, done: Done = lambda now, of: None) -> str:
    """One HTML document: an open page (`who` OPEN) holds all views, any other page only its own."""
    data = page_data(replay, who, names, lang, done)
    text = script()
    title = f"{data['head']['title'][LANGUAGES.index(lang)]} · {data['head']['match']}"
    return _filled(
        _asset("page.html"),
        {
            "lang": lang,
            "policy": _POLICY.format(hash=policy_hash(text)),
            "title": html.escape(title),
            "style": _asset("page.css"),
            "data": _inline(data),
            "script": text,
        },
    )


def _filled(template: str, parts: dict[str, str]) -> str:
    """`@@name@@` replaced once each, in one pass, so that nothing in a part is taken for a place."""
    pieces = template.split("@@")
    return "".join(parts[piece] if number % 2 else piece for number, piece in enumerate(pieces))


def _inline(data: Json) -> str:
    """JSON that cannot end the element it stands in."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def policy_hash(script: str) -> str:
    """What the policy calls a script by."""
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def script() -> str:
    """The page's script."""
    return "\n".join(map(_asset, SCRIPTS))


@cache
def _asset(name: str) -> str:
    return resources.files(__package__).joinpath("assets", name).read_text("utf-8")
