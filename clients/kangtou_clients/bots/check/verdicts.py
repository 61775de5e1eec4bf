"""What was seen in the trials, as verdicts with advice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from .trial import Run

OK, BAD, NOTE = "ok", "bad", "note"
# Happens to every bot: another seat was faster in a window, or the server asks to wait.
HARMLESS = frozenset(
    {"stale_prompt", "not_your_turn", "table_unavailable", "log_unavailable", "rate_limited", "too_many_waiting"}
)
PONGS_LEAST = 0.5
MANY_TABLES, DROP_AFTER = 3, 6  # of the last trials: tables at once, answers after which a stream is dropped


@dataclass(frozen=True, slots=True)
class Verdict:
    """One thing that was looked at. `grade`: ok, bad, or note (good to have); (English, Chinese) texts."""

    name: str
    grade: str
    found: str
    advice: tuple[str, str] = ("", "")

    def plain(self) -> dict[str, str]:
        """For JSON."""
        return {"check": self.name, "grade": self.grade, "found": self.found, "advice": self.advice[0]}


@dataclass(slots=True)
class Trials:
    """The runs: one a game, one with dropped streams, one with several tables, one that is turned away.

    by_account   the bot was connected by its author: nothing is known of its process
    """

    games: dict[str, Run] = field(default_factory=dict)
    dropped: Run | None = None
    several: Run | None = None
    away: Run | None = None
    by_account: bool = False


def share(waits: Iterable[float], part: float) -> float:
    """The time within which this part of the answers came; 0 without answers."""
    ordered = sorted(waits)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))] if ordered else 0.0


def verdicts(trials: Trials, most_ms: float) -> list[Verdict]:
    """All of them, in the order in which an author would mend things."""
    runs = list(trials.games.values())
    connects, ends = (_entered, _faults) if trials.by_account else (_connects, _exit)
    found = [connects(runs), _protocol(runs), _legality(runs), _time(runs, most_ms), _ends(trials.games), ends(runs)]
    if trials.dropped is not None:
        found.append(_reconnects(trials.dropped))
    if trials.several is not None:
        found.append(_several(trials.several))
    if trials.away is not None:
        found.append(_turned_away(trials.away))
    return found


def as_json(trials: Trials, found: list[Verdict]) -> dict[str, Any]:
    """For programs."""
    waits = [wait for run in trials.games.values() for wait in run.seen.waits_ms]
    return {
        "ok": all(one.grade != BAD for one in found),
        "positions": sum(run.seen.prompts for run in trials.games.values()),
        "answers_ms": {"p50": share(waits, 0.5), "p99": share(waits, 0.99), "max": max(waits, default=0.0)},
        "checks": [one.plain() for one in found],
    }


def _verdict(name: str, good: bool, found: str, en: str, zh: str, bad: str = BAD) -> Verdict:
    return Verdict(name, OK if good else bad, found, ("", "") if good else (en, zh))


def _connects(runs: list[Run]) -> Verdict:
    attached = sum(bool(run.seen.matches) for run in runs)
    said = next((run.said for run in runs if not run.seen.matches and run.said), "")
    return _verdict(
        "connects",
        attached == len(runs),
        f"attached in {attached} of {len(runs)} matches" + (f"; it says: {said[-160:]}" if said else ""),
        "open PlayService.Play at KANGTOU_SERVER with `authorization: Bearer KANGTOU_TOKEN`, attach to KANGTOU_MATCH",
        "用 KANGTOU_TOKEN 连接 KANGTOU_SERVER，打开 PlayService.Play，再发 attach（KANGTOU_MATCH）",
    )


def _entered(runs: list[Run]) -> Verdict:
    attached = sum(bool(run.seen.matches) for run in runs)
    return _verdict(
        "connects",
        attached == len(runs),
        f"attached in {attached} of {len(runs)} tournaments",
        "call TournamentService.EnterTournament with the account's token, keep that stream, and attach to each match "
        "and seat that comes",
        "用该账号的令牌调用 TournamentService.EnterTournament 并保持该流，对收到的每个对局和座位发 attach",
    )


def _faults(runs: list[Run]) -> Verdict:
    kinds: Counter[str] = Counter()
    for run in runs:
        kinds += run.faults
    said = ", ".join(f"{count}× {kind}" for kind, count in sorted(kinds.items())) or "none"
    return _verdict(
        "faults",
        not kinds,
        f"{said} in {sum(run.matches for run in runs)} games",
        "a fault forfeits a game: be there for each of them, answer in time and legally (docs/tournaments.md, Faults)",
        "犯规即判负：每局都要到场，按时给出合法动作（见 docs/tournaments.md）",
    )


def _protocol(runs: list[Run]) -> Verdict:
    unreadable = sum(run.seen.unreadable for run in runs)
    reused = sum(run.seen.reused for run in runs)
    pings, pongs = sum(run.seen.pings for run in runs), sum(run.seen.pongs for run in runs)
    unasked = sum(run.seen.unasked for run in runs)
    good = not unreadable and not reused and not unasked and pongs >= PONGS_LEAST * pings
    return _verdict(
        "protocol",
        good,
        f"{unreadable} messages unreadable, {unasked} commands unasked, {reused} command ids used twice, "
        f"{pongs} of {pings} pings answered",
        "send the number of the prompt that is answered; a new command_id for each action, the same only to repeat "
        "it; answer each ping at once with its nonce",
        "动作须带所答 prompt 的编号；每个动作用新的 command_id，只有重发才用同一个；收到 ping 立即用同一 nonce 回 pong",
    )


def _legality(runs: list[Run]) -> Verdict:
    refused = {code: 0 for run in runs for code in run.seen.refused if code not in HARMLESS}
    for run in runs:
        for code in refused:
            refused[code] += run.seen.refused[code]
    prompts = sum(run.seen.prompts for run in runs)
    worst = ", ".join(f"{count}× {code}" for code, count in sorted(refused.items(), key=lambda one: -one[1])[:4])
    return _verdict(
        "legality",
        not refused and prompts > 0,
        f"{prompts} positions, {sum(refused.values())} answers refused" + (f": {worst}" if worst else ""),
        "answer with an action of `legal` as it stands; for `too_many` ask Legal or Check, or take the default",
        "请原样使用 legal 中的动作；若为 too_many，用 Legal、Check 询问，或采用默认动作",
    )


def _time(runs: list[Run], most_ms: float) -> Verdict:
    waits = [wait for run in runs for wait in run.seen.waits_ms]
    late = sum(run.seen.late for run in runs)
    most = max(waits, default=0.0)
    return _verdict(
        "time",
        bool(waits) and most <= most_ms and not late,
        f"answers in {share(waits, 0.5):.0f} ms (p50), {share(waits, 0.99):.0f} (p99), {most:.0f} (most); {late} late",
        f"answer within {most_ms:.0f} ms: think less, or give the default in time (`left_ms` says how long there is)",
        f"请在 {most_ms:.0f} 毫秒内回答：少想一点，或及时采用默认动作（left_ms 为剩余时间）",
    )


def _ends(games: dict[str, Run]) -> Verdict:
    over = sum(run.over == run.matches for run in games.values())
    missing = ", ".join(name for name, run in games.items() if run.over != run.matches)
    return _verdict(
        "plays to the end",
        over == len(games),
        f"{over} of {len(games)} matches" + (f"; not: {missing}" if missing else ""),
        "go on until the update `ended`; answer every prompt, a new one too when the same question is put again",
        "一直进行到收到 ended；每个 prompt 都要回答",
    )


def _exit(runs: list[Run]) -> Verdict:
    good = sum(run.code == 0 for run in runs)
    stayed = sum(run.code is None for run in runs)
    codes = sorted({run.code for run in runs if run.code})
    more = [f"{stayed} had to be ended"] * bool(stayed) + [f"codes {', '.join(map(str, codes))}"] * bool(codes)
    return _verdict(
        "exit code",
        good == len(runs),
        "; ".join([f"0 in {good} of {len(runs)} runs", *more]),
        "end by yourself with code 0 when the match has `ended`",
        "收到 ended 后自行退出，退出码为 0",
    )


def _reconnects(run: Run) -> Verdict:
    seen = run.seen
    good = seen.drops > 0 and seen.streams > seen.drops and run.over == run.matches
    return _verdict(
        "reconnects",
        good,
        f"{seen.drops} streams dropped, {seen.streams} opened, {seen.after_drop} answers afterwards, "
        + ("played to the end" if run.over else "did not come back"),
        "when a stream ends with UNAVAILABLE open another, attach again and repeat unanswered commands by their ids",
        "连接以 UNAVAILABLE 结束时重新打开并 attach，用原 command_id 重发未得到答复的命令",
    )


def _several(run: Run) -> Verdict:
    seen = run.seen
    together = len(seen.matches) == run.matches and seen.streams == 1
    found = f"{len(seen.matches)} of {run.matches} tables attached in {seen.streams} streams, {run.over} played"
    return _verdict(
        "several tables",
        together and run.over == run.matches,
        found,
        "good to have, for accounts: attach to all of KANGTOU_MATCHES in one stream, and answer each by its match_id",
        "可选：在一条流中 attach KANGTOU_MATCHES 中的全部对局，按 match_id 分别回答",
        bad=NOTE,
    )


def _turned_away(run: Run) -> Verdict:
    return _verdict(
        "gives up",
        run.code not in (None, 0),
        "with a bad token: " + ("did not end" if run.code is None else f"exit code {run.code}"),
        "UNAUTHENTICATED cannot be mended by trying again: say so and end with another code than 0",
        "UNAUTHENTICATED 重试无用：说明原因并以非零码退出",
    )
