"""Tables, games and tickets as messages, and what a request says of tables."""

from __future__ import annotations

from collections.abc import Callable, Collection

from kangtou.v1 import game_pb2
from kangtou.v1 import lobby_pb2 as pb
from kangtou.wire import option_to_pb, options_from_pb
from kangtou_engine.errors import BadOptions

from ..agreement import BOT, HUMAN, Member
from ..company import DELAY_MOST_S, OPEN, POLICIES, watching_to_pb
from ..house_rules import HouseRules, Key
from ..identity import Account
from ..lobby import StartRule, Table, TableState, Terms
from ..lobby.rematch import tally
from ..matchmaking import State, Status
from ..opening import Games
from ..refusals import refusal
from .account_service import kind_to_pb
from .calls import CallError, Code, garbage

TICKETS = {
    State.WAITING: pb.TICKET_STATE_WAITING,
    State.LEFT: pb.TICKET_STATE_WAITING,
    State.SILENT: pb.TICKET_STATE_WAITING,
    State.MATCHED: pb.TICKET_STATE_MATCHED,
    State.READY: pb.TICKET_STATE_READY,
    State.CANCELLED: pb.TICKET_STATE_CANCELLED,
    State.OFFERED: pb.TICKET_STATE_OFFERED,
    State.ACCEPTED: pb.TICKET_STATE_OFFERED,
    State.DECLINED: pb.TICKET_STATE_CANCELLED,
    State.MISSED: pb.TICKET_STATE_REFUSED,
}
STATES = {
    TableState.OPEN: pb.TABLE_STATE_OPEN,
    TableState.FULL: pb.TABLE_STATE_OPEN,  # its match is being made
    TableState.PLAYING: pb.TABLE_STATE_PLAYING,
    TableState.OVER: pb.TABLE_STATE_OVER,
    TableState.CLOSED: pb.TABLE_STATE_CLOSED,
}
STARTS = {
    pb.START_RULE_UNSPECIFIED: StartRule.SEATED,
    pb.START_RULE_SEATED: StartRule.SEATED,
    pb.START_RULE_READY: StartRule.READY,
    pb.START_RULE_OWNER: StartRule.OWNER,
}
_STARTS_PB = {rule: number for number, rule in STARTS.items()}  # the last number of a rule: not UNSPECIFIED
KINDS = {game_pb2.ACCOUNT_KIND_HUMAN: HUMAN, game_pb2.ACCOUNT_KIND_BOT: BOT}
_REMEMBERED = 512
SECONDS_LEAST, SECONDS_MOST = 1, 600


class Messages:
    """Tables as an account may see them."""

    def __init__(self, rules: HouseRules) -> None:
        self._rules = rules
        self._options: dict[Key, list[pb.TableOption]] = {}  # of one list and the next: most tables play the same

    def table(self, table: Table, viewer: Account) -> pb.Table:
        """A table; its code only for those who belong to it."""
        terms = table.terms
        return pb.Table(
            match_id=table.table_id,
            state=STATES[table.state],
            choice=table.choice.choice_pb(),
            clock=table.choice.clock_pb(),
            rated=table.choice.rated,
            seats=[_seat(table, member) for member in table.members],
            current_match_id=table.match_id,
            owner_id=table.owner,
            start=_STARTS_PB[terms.start],
            private=bool(terms.code),
            code=terms.code if table.knows(viewer.account_id) else "",
            kind=kind_to_pb(terms.kind) if terms.kind else game_pb2.ACCOUNT_KIND_UNSPECIFIED,
            options=self._all_options(table),
            rules=self._rules.name_of(table.choice),
            ready_until_ms=table.ready_until_ms,
            rematch_until_ms=table.rematch_until_ms,
            matches=_matches(table),
            tally=[
                pb.TallyRow(
                    account_id=row.account_id, name=row.name, matches=row.matches, points=row.points, places=row.places
                )
                for row in tally(table)
            ],
            opened_ms=table.opened_ms,
            version=table.version,
            fill_ms=table.fill_ms,
            watching=watching_to_pb(terms.watch, terms.watch_delay_ms),
            scorer_id=table.company.scorer,
        )

    def _all_options(self, table: Table) -> list[pb.TableOption]:
        key = self._rules.known(table.choice)
        if key not in self._options:
            if len(self._options) >= _REMEMBERED:
                self._options.clear()
            self._options[key] = self._made(table)
        return self._options[key]

    def _made(self, table: Table) -> list[pb.TableOption]:
        return [
            pb.TableOption(
                name=one.spec.name,
                rule=one.spec.rule,
                value=option_to_pb(one.value),
                is_default=one.is_default,
                allowed=one.spec.allowed(),
            )
            for one in self._rules.options_of(table.choice)
        ]

    def wanted(
        self, game: str, states: Collection[pb.TableState.ValueType], given: pb.TableFilter
    ) -> Callable[[Table], bool]:
        """Whether a request asks for a table. Raises CallError for a filter that no table can ever fit."""
        in_states = {state for state, number in STATES.items() if number in states}
        try:
            options = options_from_pb(game_pb2.GameChoice(options=given.options))
        except BadOptions as error:
            raise garbage() from error
        kind = KINDS.get(given.kind, "")
        if lacking := self._rules.lacking(game, given.rules, options):
            raise CallError(Code.INVALID_ARGUMENT, *lacking)

        def wanted(table: Table) -> bool:
            choice = table.choice
            return (
                game in ("", choice.game)
                and (not in_states or table.state in in_states)
                and given.seats in (0, choice.seats)
                and table.free >= given.free_seats
                and (not given.HasField("rated") or given.rated == choice.rated)
                and kind in ("", table.terms.kind)
                and given.rules in ("", self._rules.name_of(choice))
                and (not options or self._plays(table, options))
            )

        return wanted

    def _plays(self, table: Table, options: dict[str, object]) -> bool:
        values = self._rules.values_of(table.choice)
        return all(name in values and _same(values[name], value) for name, value in options.items())


def _same(one: object, other: object) -> bool:
    """1 is not true."""
    return type(one) is type(other) and one == other


def _seat(table: Table, member: Member | None) -> pb.SeatInfo:
    if member is None:
        return pb.SeatInfo()
    account = member.account_id
    return pb.SeatInfo(
        account_id=account,
        name=member.name,
        kind=kind_to_pb(member.kind),
        ready=table.is_ready(account),
        rematch=account in table.wants or (bool(table.wants) and account in table.house),
    )


def _matches(table: Table) -> list[pb.TableMatch]:
    """What was played, and what is being played."""
    found = [
        pb.TableMatch(
            match_id=one.match_id, account_ids=one.accounts, scores=one.scores, places=one.places, cause=one.cause
        )
        for one in table.matches
    ]
    if table.state is TableState.PLAYING:
        accounts = [member.account_id for member in table.taken]
        found.append(pb.TableMatch(match_id=table.match_id, account_ids=accounts))
    return found


def terms_of(request: pb.OpenTableRequest, account: Account, fill_after_ms: int = 0) -> Terms | game_pb2.Refusal:
    """What a request fixes beside the choice; `fill_after_ms`: the server's.

    Refused: bad_time, kind_not_allowed, bad_watch, open_rated.
    """
    kind = KINDS.get(request.kind, account.kind if request.rated else "")
    if request.rated and kind != account.kind:
        return refusal("kind_not_allowed")
    for name, given in (
        ("ready_s", request.ready_s),
        ("rematch_s", request.rematch_s),
        ("fill_after_s", request.fill_after_s),
    ):
        if given and not SECONDS_LEAST <= given <= SECONDS_MOST:
            return refusal("bad_time", option=name, given=given, low=SECONDS_LEAST, high=SECONDS_MOST)
    watch = POLICIES.get(request.watch)
    if watch is None:
        return refusal("bad_watch")
    if watch == OPEN and request.rated:
        return refusal("open_rated")
    if not 0 <= request.watch_delay_s <= DELAY_MOST_S:
        return refusal("bad_time", option="watch_delay_s", given=request.watch_delay_s, low=0, high=DELAY_MOST_S)
    usual = Terms()
    return Terms(
        start=STARTS.get(request.start, StartRule.SEATED),
        kind=kind,
        ready_ms=request.ready_s * 1000 or usual.ready_ms,
        rematch_ms=request.rematch_s * 1000 or usual.rematch_ms,
        fill_after_ms=0 if request.only_guests else request.fill_after_s * 1000 or fill_after_ms,
        watch=watch,
        watch_delay_ms=request.watch_delay_s * 1000,
        scorer=request.scorer_id[:64],
    )


def game_info(games: Games, name: str) -> pb.GameInfo:
    """The newest version of a game, with its options."""
    spec = games.game(name).spec
    options = [
        pb.OptionInfo(name=row.name, rule=row.rule, allowed=row.allowed(), default_value=option_to_pb(row.default))
        for row in spec.option_rows
    ]
    sets = [
        pb.RuleSetInfo(
            name=one.name,
            title_en=one.title[0],
            title_zh=one.title[1],
            options={name: option_to_pb(value) for name, value in one.options.items()},
        )
        for one in spec.rule_sets
    ]
    return pb.GameInfo(
        game=spec.name,
        version=spec.version,
        title_en=spec.title[0],
        title_zh=spec.title[1],
        seats=spec.seats_allowed,
        options=options,
        rule_sets=sets,
    )


def status_to_pb(status: Status | game_pb2.Refusal, ticket_id: str) -> pb.QuickMatchResponse:
    """A ticket's status as clients see it."""
    if isinstance(status, game_pb2.Refusal):
        return pb.QuickMatchResponse(state=pb.TICKET_STATE_REFUSED, refused=status, ticket_id=ticket_id)
    return pb.QuickMatchResponse(
        state=TICKETS[status.state],
        match_id=status.match_id,
        seat=max(status.seat, 0),
        waiting=status.waiting,
        ticket_id=ticket_id,
        answer_by_ms=status.answer_by_ms,
        accepted=status.accepted,
        answered=status.state is State.ACCEPTED,
        estimate_ms=status.estimate_ms,
        refused=refusal("offer_missed") if status.state is State.MISSED else None,
    )
