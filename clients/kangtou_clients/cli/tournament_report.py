"""A report in the form that was asked for, on the screen or in a file."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..screen import Screen
from ..tournament import show, write_csv, write_page
from .common import Common

FORMATS = ("text", "json", "csv", "html")
FILE_WIDTH = 120


def written(common: Common, report: Mapping[str, Any], form: str, out: Path | None) -> None:
    """To a file, or to the standard output."""
    if out is None:
        if form == "text" and not common.json:
            show(dict(report), Screen(no_color=not common.colour), common.lang)
        else:
            sys.stdout.write(_text(common, report, form))
        sys.stdout.flush()
        return
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(_text(common, report, form), encoding="utf-8")
    common.note("report_written", path=out)


def _text(common: Common, report: Mapping[str, Any], form: str) -> str:
    if form == "json" or (form == "text" and common.json):
        return json.dumps(report, ensure_ascii=False) + "\n"
    if form == "csv":
        return write_csv(dict(report))
    if form == "html":
        return write_page(dict(report), common.lang)
    page = io.StringIO()
    show(dict(report), Screen(file=page, width=FILE_WIDTH, no_color=True), common.lang)
    return page.getvalue()
