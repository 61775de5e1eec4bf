"""The report on a terminal. What does not fit the width is left out column by column, the least needed first."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from .figures import Json, difference, elo, faults_text, interval, level, mean_place, plain, score_text, signed
from .words import word

_FROM = {"strength": 78, "place": 100, "points": 114, "bootstrap": 134}  # columns of a terminal that show them


def show(report: Json, console: Console, lang: str) -> None:
    """Everything but the list of matches."""
    spec, games = report["spec"], report["games"]
    title = spec["title"][0 if lang == "en" else 1]
    state = "" if report["over"] else f" · {word('unfinished', lang)}"
    console.print(Text(f"{spec['name']} · {title} · {word(spec['format'], lang)}{state}", style="bold"))
    console.print(Text(word("games.of", lang, **{name: games[name] for name in ("played", "counted", "sets")})))
    console.print(final_table(report, lang, console.width))
    if games["sets"] and any(row["edge"]["low"] is None for row in report["table"]):
        console.print(Text(word("no_interval", lang, n=report["shown_from"]), style="dim"))
    if report["pairs"]:
        console.print(pair_table(report, lang))
    factor = report["duplicate"]
    said = word("factor.none", lang)
    if factor:
        said = word("factor.is", lang, **{name: plain(factor[name]) for name in ("value", "low", "high")})
    console.print(Text(f"{word('factor', lang)}: {said}"))
    for name in ("id", "commitment", "seed"):
        if report["run"].get(name):
            console.print(Text(f"{word(name, lang)}: {report['run'][name]}"))


def final_table(report: Json, lang: str, width: int = 200) -> Table:
    """The table, as wide as `width` allows; also while a tournament runs."""
    table = Table(title=word("final" if report["over"] else "so_far", lang), title_justify="left")
    table.add_column(word("rank", lang), justify="right")
    table.add_column(word("entrant", lang), overflow="fold")
    scored = any(row["decided"] for row in report["table"])
    names = ["edge", "interval", *(name for name, least in _FROM.items() if width >= least), "sets"]
    if scored:
        names.insert(0, "score")
    if any(row["faults"] for row in report["table"]):
        names.append("faults")
    for name in names:
        table.add_column(word(name, lang, level=level(report)), justify="right", no_wrap=name != "faults")
    for row in report["table"]:
        cells = {
            "score": score_text(row),
            "edge": signed(row["edge"]["value"]),
            "interval": interval(row["edge"]),
            "bootstrap": interval({**row["edge"], "error": None}, "boot_low", "boot_high"),
            "points": plain(row["points"]),
            "strength": elo(row["strength"]),
            "place": mean_place(row["place"]),
            "sets": str(row["edge"]["sets"]),
            "faults": faults_text(row),
        }
        table.add_row(str(row["rank"]), Text(row["name"]), *(Text(cells[name]) for name in names))
    return table


def pair_table(report: Json, lang: str) -> Table:
    """Every two that have met, the better one first."""
    table = Table(title=word("cross", lang), title_justify="left")
    table.add_column(word("pair", lang), overflow="fold")
    tested = report["spec"]["stopping"]["method"] != "none"
    for name in ("difference", "interval", "sets", *(("verdict",) if tested else ()), "needed"):
        table.add_column(word(name, lang, level=level(report)), justify="right")
    entrants = report["spec"]["entrants"]
    rows = []
    for given in report["pairs"]:
        behind = (given["difference"]["value"] or 0) < 0
        pair = difference(report, given["other"], given["one"]) if behind else given
        assert pair is not None
        rows.append(pair)
    rows.sort(key=lambda pair: -(pair["difference"]["value"] or 0))
    for pair in rows:
        one = entrants[pair["one"]]["name"]
        cells = [signed(pair["difference"]["value"]), interval(pair["difference"]), str(pair["difference"]["sets"])]
        if tested:
            cells.append(verdict_text(pair, one, entrants[pair["other"]]["name"], lang))
        cells.append(str(pair["sets_needed"] or "–"))
        table.add_row(Text(f"{one} – {entrants[pair['other']]['name']}"), *map(Text, cells))
    return table


def verdict_text(pair: Json, one: str, other: str, lang: str) -> str:
    """In words."""
    verdict = pair["verdict"]
    if verdict in ("better", "worse"):
        return word("better", lang, one=one if verdict == "better" else other)
    return word(verdict or "undecided", lang)
