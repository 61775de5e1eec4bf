"""The report as one HTML page: no script, no request, both languages in it, fit for print and for dark rooms."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import cache
from importlib import resources
from urllib.parse import quote

from .figures import Json, difference, elo, interval, level, mean_place, plain, score_text, signed
from .plot import interval_plot, place_bars
from .words import LANGUAGES, word

MOST_MATCHES = 2_000  # in the page; the JSON report has all
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_e = html.escape


def write_page(report: Json, lang: str = "en", match_url: str = "") -> str:
    """One HTML document, shown in `lang` first. `match_url`: a link for each match, with `{match}` in it."""
    spec = report["spec"]
    checked = {one: " checked" if one == lang else "" for one in LANGUAGES}
    choice = "".join(
        f'<input type="radio" name="lang" id="to-{one}"{checked[one]}><label for="to-{one}">{name}</label>'
        for one, name in zip(LANGUAGES, ("English", "中文"), strict=True)
    )
    sections = "".join(
        part
        for part in (
            _final(report),
            _plot(report),
            _cross(report),
            _verdicts(report),
            _places(report),
            _faults(report),
            _about(report),
            _matches(report, match_url),
        )
        if part
    )
    return (
        f'<!doctype html>\n<html lang="{lang}"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="referrer" content="no-referrer">'
        f"<title>{_e(spec['name'])} · {_e(word('report', lang))}</title><style>{_style()}</style></head>"
        f"<body>{_head(report, choice)}<main>{sections}</main></body></html>\n"
    )


def _t(code: str, **params: object) -> str:
    """A text in both languages; the style shows one of them."""
    return "".join(f'<span lang="{lang}">{_e(word(code, lang, **params))}</span>' for lang in LANGUAGES)


def _head(report: Json, choice: str) -> str:
    spec, games = report["spec"], report["games"]
    title = "".join(
        f'<span lang="{lang}">{_e(text)}</span>' for lang, text in zip(LANGUAGES, spec["title"], strict=True)
    )
    marks = [title, _t(spec["format"]), _t("games.of", **{name: games[name] for name in ("played", "counted", "sets")})]
    if spec["trusted"]:
        marks.append(_t("trusted"))
    if not report["over"]:
        marks.append(_t("unfinished"))
    chips = "".join(f"<li>{mark}</li>" for mark in marks)
    return (
        f'<header><div class="choice">{choice}</div><h1>{_e(spec["name"])}</h1><ul class="chips">{chips}</ul></header>'
    )


def _section(name: str, title: str, body: str, note: str = "") -> str:
    said = f'<p class="note">{note}</p>' if note else ""
    return f'<section id="{name}"><h2>{title}</h2>{said}{body}</section>'


def _grid(heads: Iterable[str], rows: Iterable[Sequence[str]], kind: str = "") -> str:
    head = "".join(f'<th scope="col">{text}</th>' for text in heads)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return (
        f'<div class="scroll"><table class="{kind}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def _final(report: Json) -> str:
    scored = any(row["decided"] for row in report["table"])
    names = [
        "rank",
        "entrant",
        *(["score"] if scored else []),
        "edge",
        "interval",
        "strength",
        "place",
        "points",
        "sets",
    ]
    if any(row["faults"] for row in report["table"]):
        names.append("faults")
    rows = []
    for row in report["table"]:
        cells = {
            "rank": str(row["rank"]),
            "entrant": f"<b>{_e(row['name'])}</b>",
            "score": _e(score_text(row)),
            "edge": f"<b>{signed(row['edge']['value'])}</b>",
            "interval": interval(row["edge"]),
            "strength": elo(row["strength"]),
            "place": mean_place(row["place"]),
            "points": plain(row["points"]),
            "sets": str(row["edge"]["sets"]),
            "faults": ", ".join(f"{_t(kind)} {number}" for kind, number in row["faults"].items()),
        }
        rows.append([cells[name] for name in names])
    note = _t("edge.long")
    if any(row["edge"]["low"] is None for row in report["table"]):
        note += f" {_t('no_interval', n=report['shown_from'])}"
    heads = [_t(name, level=level(report)) for name in names]
    return _section("final", _t("final" if report["over"] else "so_far"), _grid(heads, rows, "final"), note)


def _plot(report: Json) -> str:
    drawn = interval_plot(report)
    note = "".join(
        f'<span lang="{lang}">{_e(word("plot.note", lang, method=word(report["interval"], lang)))}</span>'
        for lang in LANGUAGES
    )
    return _section("plot", _t("plot"), f'<div class="scroll">{drawn}</div>', note) if drawn else ""


def _cross(report: Json) -> str:
    order = [row["entrant"] for row in report["table"]]
    names = [report["spec"]["entrants"][who]["name"] for who in order]
    if len(order) < 2 or not report["pairs"]:
        return ""
    rows = []
    for row, name in zip(order, names, strict=True):
        cells = "".join(_cell(report, row, column) for column in order)
        rows.append(f'<tr><th scope="row">{_e(name)}</th>{cells}</tr>')
    head = "".join(f'<th scope="col">{_e(name)}</th>' for name in names)
    table = f'<table class="cross"><thead><tr><th></th>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>'
    return _section("cross", _t("cross"), f'<div class="scroll">{table}</div>', _t("cross.note"))


def _cell(report: Json, row: int, column: int) -> str:
    if row == column:
        return '<td class="self"></td>'
    pair = difference(report, row, column)
    if pair is None:
        return '<td class="none">·</td>'
    mean = pair["difference"]
    kind = "even"
    if mean["low"] is not None and (mean["low"] > 0 or mean["high"] < 0):
        kind = "ahead" if mean["low"] > 0 else "behind"
    wins = " – ".join(map(str, pair["wins"]))
    return f'<td class="{kind}"><b>{signed(mean["value"])}</b><small>{interval(mean)}</small><small>{wins}</small></td>'


def _verdicts(report: Json) -> str:
    if report["spec"]["stopping"]["method"] == "none":
        return ""
    entrants, rows = report["spec"]["entrants"], []
    for pair in report["pairs"]:
        one, other = entrants[pair["one"]]["name"], entrants[pair["other"]]["name"]
        verdict = pair["verdict"]
        if verdict in ("better", "worse"):
            said = _t("better", one=one if verdict == "better" else other)
        else:
            said = _t(verdict or "undecided")
        mean = pair["difference"]
        needed = str(pair["sets_needed"] or "–")
        rows.append(
            [f"{_e(one)} – {_e(other)}", said, signed(mean["value"]), interval(mean), str(mean["sets"]), needed]
        )
    heads = [_t(name, level=level(report)) for name in ("pair", "verdict", "difference", "interval", "sets", "needed")]
    test = report["spec"]["stopping"]
    note = f"low {test['low']:g}, high {test['high']:g}, α {test['alpha']:g}, β {test['beta']:g}"
    return _section("verdicts", _t("verdicts"), _grid(heads, rows), note)


def _places(report: Json) -> str:
    drawn = place_bars(report)
    keys = "".join(f'<li class="p{n}">{_t("place.n", n=n + 1)}</li>' for n in range(report["games"]["places"]))
    return (
        _section("places", _t("places"), f'<ul class="keys">{keys}</ul><div class="scroll">{drawn}</div>')
        if drawn
        else ""
    )


def _faults(report: Json) -> str:
    if not report["faults"]:
        return _section("faults", _t("faults"), f"<p>{_t('no_faults')}</p>")
    entrants = report["spec"]["entrants"]
    rows = [
        [
            _e(entrants[one["entrant"]]["name"]),
            _t(one["kind"]),
            _code(one["game"]),
            str(one["seat"]),
            _code(one["match"]),
        ]
        for one in report["faults"][:MOST_MATCHES]
    ]
    return _section("faults", _t("faults"), _grid(map(_t, ("entrant", "kind", "game", "seat", "match")), rows))


def _about(report: Json) -> str:
    spec, run = report["spec"], report["run"]
    factor = report["duplicate"]
    said = _t("factor.none")
    if factor:
        said = _t("factor.is", **{name: plain(factor[name]) for name in ("value", "low", "high")})
    options = ", ".join(f"{name} {str(value).lower()}" for name, value in spec["options"].items())
    rows = [
        ("format", _t(spec["format"])),
        ("unit", _t("pair.unit" if spec["unit"] == "pair" else "single")),
        ("rotation", _t("cross.rotation" if spec["rotation"] == "cross" else "full")),
        ("factor", said),
        ("moves", f"{report['games']['moves']:,}"),
        ("options", f'<span class="quiet">{_e(options)}</span>'),
    ]
    rows += [(name, _run_value(name, value)) for name, value in run.items() if value not in ("", None, [], {})]
    body = "".join(f"<dt>{_t(name)}</dt><dd>{value}</dd>" for name, value in rows)
    return _section("about", _t("about"), f"<dl>{body}</dl>")


def _run_value(name: str, value: object) -> str:
    if name.endswith("_ms") and isinstance(value, int):
        return datetime.fromtimestamp(value / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    if name == "replays" and isinstance(value, list):
        why = Counter(str(one["why"]) for one in value)
        return _e("; ".join(f"{count} × {text}" for text, count in why.most_common()))
    if name == "closed":
        return _t(str(value))
    if name == "isolated":
        return _t("isolated.yes" if value else "isolated.no")
    return _code(value) if name in ("id", "commitment", "seed") else _e(str(value))


def _matches(report: Json, match_url: str) -> str:
    entrants, rows = report["spec"]["entrants"], []
    for one in report["matches"][:MOST_MATCHES]:
        match = _code(one["match"])
        if match_url:
            match = f'<a href="{_e(match_url.replace("{match}", quote(one["match"], safe="")))}">{match}</a>'
        seated = ", ".join(_e(entrants[who]["name"]) for who in one["entrants"])
        scores = " ".join(map(str, one["scores"])).replace("-", "−")
        counted = "" if one["counted"] else f" ({_t('not_counted')})"
        rows.append([_code(one["game"]) + counted, str(one["board"]), seated, scores, match])
    if not rows:
        return ""
    grid = _grid(map(_t, ("game", "board", "seats_of", "scores", "match")), rows, "matches")
    more = len(report["matches"]) - len(rows)
    after = f'<p class="note">{_t("matches.more", n=more)}</p>' if more else ""
    summary = f"<summary>{_t('matches')}: {len(report['matches'])}</summary>"
    return f'<section id="matches"><h2>{_t("matches")}</h2><details>{summary}{grid}{after}</details></section>'


def _code(text: object) -> str:
    return f"<code>{_e(str(text))}</code>"


@cache
def _style() -> str:
    return resources.files(__package__).joinpath("assets", "report.css").read_text("utf-8")
