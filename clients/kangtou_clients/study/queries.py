"""DuckDB over exported tables as views `matches`, `seats`, `rounds`, `moves`; ready-made queries. Extra `analysis`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb

TABLES = ("matches", "seats", "rounds", "moves")

# Name: what it tells (English, Chinese), the query.
NAMED: Mapping[str, tuple[str, str, str]] = {
    "games": (
        "matches, rounds and moves by game and variant",
        "各游戏、玩法的对局、局数、步数",
        "SELECT game, variant, count(*) AS matches, sum(rounds) AS rounds, sum(moves) AS moves,"
        " min(ended) AS first, max(ended) AS last FROM matches GROUP BY ALL ORDER BY matches DESC, game, variant",
    ),
    "players": (
        "matches, wins and scores by player and game",
        "各玩家在各游戏中的对局、胜场、得分",
        "SELECT player, any_value(name) AS name, game, count(*) AS matches,"
        " count(*) FILTER (won) AS won, round(avg(won::INT), 3) AS win_rate, round(avg(score), 2) AS score"
        " FROM seats GROUP BY player, game ORDER BY matches DESC, player, game",
    ),
    "seats": (
        "whether a seat has an advantage",
        "座位是否有优势",
        "SELECT game, variant, seat, count(won) AS matches, round(avg(won::INT), 3) AS win_rate,"
        " round(avg(score), 2) AS score FROM seats GROUP BY ALL ORDER BY game, variant, seat",
    ),
    "hands": (
        "rounds won by what the hand held when it was dealt",
        "按起手牌特征的胜率",
        "SELECT game, variant, f.feature, f.value, count(*) AS rounds, round(avg(won::INT), 3) AS win_rate,"
        " round(avg(points), 2) AS points FROM (SELECT game, variant, won, points, unnest(map_entries(features)) AS e"
        " FROM rounds WHERE \"end\" = 'scored') AS r, LATERAL (SELECT r.e.key AS feature, r.e.value AS value) AS f"
        " GROUP BY ALL ORDER BY game, variant, feature, value",
    ),
    "think": (
        "think times by game and action",
        "各游戏各动作的思考时间",
        "SELECT game, verb, count(*) AS moves, median(think_ms)::BIGINT AS median_ms,"
        " quantile_cont(think_ms, 0.95)::BIGINT AS p95_ms FROM moves WHERE think_ms IS NOT NULL"
        " GROUP BY ALL ORDER BY game, moves DESC, verb",
    ),
    "timeouts": (
        "who ran out of time",
        "超时的玩家",
        "SELECT player, any_value(name) AS name, sum(timeouts)::BIGINT AS timeouts, sum(moves)::BIGINT AS moves"
        " FROM seats GROUP BY player HAVING sum(timeouts) > 0 ORDER BY timeouts DESC, player",
    ),
    "dealer": (
        "how the dealer's rounds end",
        "庄家各局的结果",
        "SELECT game, variant, seat = dealer AS is_dealer, count(*) AS rounds, round(avg(won::INT), 3) AS win_rate,"
        " round(avg(points), 2) AS points FROM rounds WHERE \"end\" = 'scored' AND dealer IS NOT NULL"
        " GROUP BY ALL ORDER BY game, variant, is_dealer DESC",
    ),
    "days": (
        "matches by day",
        "每日对局数",
        "SELECT (ended AT TIME ZONE 'UTC')::DATE AS day, game, count(*) AS matches FROM matches"
        " GROUP BY ALL ORDER BY day, game",
    ),
}


class NoTable(FileNotFoundError):
    """A folder without one of the tables."""


class BadQuery(ValueError):
    """What DuckDB says of a query."""


def run(folder: Path, sql: str) -> tuple[list[str], list[Sequence[Any]]]:
    """Columns and rows of a query over the tables of a folder. Raises NoTable, BadQuery."""
    with duckdb.connect() as db:
        try:
            for table in TABLES:
                path = folder / f"{table}.parquet"
                if not path.is_file():
                    raise NoTable(2, table, str(folder))
                quoted = str(path).replace("'", "''")
                db.execute(f"CREATE VIEW {table} AS SELECT * FROM read_parquet('{quoted}')")
            if not duckdb.extract_statements(sql):
                raise BadQuery("there is no statement in it")
            done = db.execute(sql)
            return [column[0] for column in done.description or ()], list(done.fetchall())
        except duckdb.Error as error:
            raise BadQuery(str(error)) from error
